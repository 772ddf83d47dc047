import type { Part } from './explained.ts';
import type { Notes } from './note.ts';
import { own } from './own.ts';

/** Returns a part with the note on its name, if there is one. `before`: a prefix of the shown name. */
export function notedPart(name: string, value: string, notes: Notes, before = ''): Part {
  const found = own(notes, name);
  const part = { name: before + name, value };
  return found ? { ...part, note: found.text, section: found.section } : part;
}

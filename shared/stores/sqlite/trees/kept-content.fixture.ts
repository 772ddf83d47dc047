import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { STATE } from '../schema/state.ts';

/** Returns the content of a tree that the embedded store in a folder has: bytes by name. */
export function keptContent(folder: string, tree: string): ReadonlyMap<string, number> {
  using database = new DatabaseSync(join(folder, STATE.file), { readOnly: true });
  const rows = database
    .prepare('SELECT file, octet_length(bytes) AS length FROM content WHERE tree = ?')
    .all(tree);
  return new Map(rows.map(({ file, length }) => [String(file), Number(length)]));
}

import type { Stored } from '../rules/stored.ts';

/** Octets that any answer costs in memory besides what is counted of it, measured once all were used. */
const ENTRY = 1536;
/** Octets that a text in a list costs besides its characters. */
const TEXT = 32;
/** The part of all room that one answer may take: the others are not to go for it. */
export const LARGEST = 1 / 4;

/** Octets, about, of what describes an answer. */
export function describing(stored: Stored): number {
  let octets = ENTRY + stored.target.length + stored.whose.length + stored.content.length;
  for (const [name, value] of stored.lines) octets += 2 * TEXT + name.length + value.length;
  for (const [name, value] of stored.vary) {
    octets += 2 * TEXT + name.length + (value?.length ?? 0);
  }
  for (const tag of stored.tags) octets += TEXT + tag.length;
  return octets;
}

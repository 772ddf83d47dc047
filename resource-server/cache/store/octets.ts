import type { Stored } from '../rules/stored.ts';

/** Measured octets of memory per answer, beside those that are counted. */
const ENTRY = 1536;
/** Octets of memory per text in a list, beside its characters. */
const TEXT = 32;
/** The part of all room that one answer may take, so that it does not evict all others. */
export const LARGEST = 1 / 4;

/** Returns the approximate octets of an answer's description. */
export function describing(stored: Stored): number {
  let octets = ENTRY + stored.target.length + stored.whose.length + stored.content.length;
  for (const [name, value] of stored.lines) octets += 2 * TEXT + name.length + value.length;
  for (const [name, value] of stored.vary) {
    octets += 2 * TEXT + name.length + (value?.length ?? 0);
  }
  for (const tag of stored.tags) octets += TEXT + tag.length;
  return octets;
}

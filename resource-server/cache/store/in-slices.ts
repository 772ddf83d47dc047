import { setImmediate as othersTurn } from 'node:timers/promises';

/** Looked at before others have their turn. */
const SLICE = 32;

/** Does it for some after others, until it is done for all. */
export async function inSlices<T>(
  all: readonly T[],
  work: (some: readonly T[]) => void,
): Promise<void> {
  for (let at = 0; at < all.length; at += SLICE) {
    if (at > 0) await othersTurn();
    work(all.slice(at, at + SLICE));
  }
}

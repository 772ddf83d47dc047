import { setImmediate as othersTurn } from 'node:timers/promises';

/** Elements that are handled before the event loop does other work. */
const SLICE = 32;

/** Calls `work` for slices of the elements, with other work of the event loop in between. */
export async function inSlices<T>(
  all: readonly T[],
  work: (some: readonly T[]) => void,
): Promise<void> {
  for (let at = 0; at < all.length; at += SLICE) {
    if (at > 0) await othersTurn();
    work(all.slice(at, at + SLICE));
  }
}

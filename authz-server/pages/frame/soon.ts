import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two looks, and for how long one looks. */
const PAUSE = 50;
const PATIENCE = 1500;

/** Looks for what another request, perhaps in another process, is about to write; undefined: nothing came. */
export async function soon<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (let waited = 0; waited < PATIENCE; waited += PAUSE) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(PAUSE);
  }
  return undefined;
}

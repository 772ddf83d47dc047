import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds before each further attempt. They double, so that a late result does not cost many attempts. */
const PAUSES = [50, 100, 200, 400, 800];

/**
 * Waits briefly for a result that another request, perhaps in another process, is about to write. Undefined: it did not
 * come.
 */
export async function soon<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const pause of PAUSES) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(pause);
  }
  return look();
}

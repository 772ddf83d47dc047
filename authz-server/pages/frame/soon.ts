import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds before each further look. They double, since what comes late costs most looks. */
const PAUSES = [50, 100, 200, 400, 800];

/** Looks for what another request, perhaps in another process, is about to write; undefined: nothing came. */
export async function soon<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const pause of PAUSES) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(pause);
  }
  return look();
}

import type { Connection } from '../connection/connection.ts';

/** How often all keys are looked through at least: a slot that goes to another master meanwhile may be overlooked once. */
const LOOKS = 2;

/** Gives all keys that match a glob to `move`, in slices, until none is left: it removes each that it is given. */
export async function everyKey(
  redis: Connection,
  pattern: string,
  move: (keys: readonly string[]) => Promise<void>,
): Promise<void> {
  for (let looks = 1, isFound = true; isFound || looks <= LOOKS; looks += 1) {
    isFound = false;
    for await (const found of redis.keys(pattern)) {
      if (found.length === 0) continue;
      isFound = true;
      await move(found);
    }
  }
}

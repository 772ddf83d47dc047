import { hash } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';

/** Keys that are remembered at most: 100 MB. */
const CAPACITY = 1_000_000;

/**
 * Remembers in this process alone what was used; `first` is called before the first is. All have to be remembered
 * for the same time, by the clock that nobody sets, so that the oldest is the first to be forgotten. What there is no
 * room for is not let in.
 */
export function memoryReplay(
  clock: Clock,
  first: () => void,
  capacity: number = CAPACITY,
): Pick<Replay, 'unique'> {
  const until = new Map<string, number>();
  let began = false;

  function forget(now: number): void {
    for (const [key, end] of until) {
      if (end > now) return;
      until.delete(key);
    }
  }

  return {
    async unique(namespace, key, seconds) {
      if (!began) first();
      began = true;
      const now = clock.monotonic();
      forget(now);
      const name = hash('sha256', `${namespace} ${key}`, 'base64');
      if (until.has(name)) return false;
      if (until.size >= capacity) throw new StoreUnavailable('too many proofs to remember');
      until.set(name, now + seconds * 1000);
      return true;
    },
  };
}

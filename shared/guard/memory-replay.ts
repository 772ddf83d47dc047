import { hash } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';

/** Most keys that are remembered: 100 MB. */
const CAPACITY = 1_000_000;

/**
 * Remembers used keys in this process only; `first` is called before the first use. All keys must have the same life,
 * by the monotonic clock, so that the oldest is forgotten first. A key without room is refused.
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

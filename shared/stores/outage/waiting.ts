import { StoreUnavailable } from './unavailable.ts';

/** Most callers that wait at a time. More callers would fill the memory, even after their clients have left. */
export const MOST_WAITING = 10_000;

/** Runs the work. Rejects at once with `StoreUnavailable` if too many calls are running. */
export function boundedWaiting(): <T>(work: () => Promise<T>) => Promise<T> {
  let waiting = 0;
  return async (work) => {
    if (waiting >= MOST_WAITING) throw new StoreUnavailable('too many wait for the store');
    waiting += 1;
    try {
      return await work();
    } finally {
      waiting -= 1;
    }
  };
}

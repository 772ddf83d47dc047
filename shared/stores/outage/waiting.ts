import { StoreUnavailable } from './unavailable.ts';

/** Callers that may wait at a time. More would only fill the memory, even when their clients have left. */
export const MOST_WAITING = 10_000;

/** Does what it is given; with so much under way it rejects with `StoreUnavailable` at once. */
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

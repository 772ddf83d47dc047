import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';

/** Runs work at once while a lane is free, then in the order it came. */
export type Lanes = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Creates lanes: at most `lanes` tasks run at a time and at most `waiting` wait. Further ones are rejected with
 * `StoreUnavailable`, so that a flood is told to come back later rather than left to pile up.
 */
export function createLanes(lanes: number, waiting: number): Lanes {
  let free = lanes;
  const queue: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else if (queue.length < waiting) await new Promise<void>((resolve) => queue.push(resolve));
    else throw new StoreUnavailable('too much work of this kind is waiting');
    try {
      return await work();
    } finally {
      // A lane goes directly to the next waiting task, without becoming free in between.
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

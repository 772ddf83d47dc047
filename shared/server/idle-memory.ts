import type { Chore } from './chore.ts';

/** The busy part of the time above which garbage is not collected, since collecting would delay a request. */
const BUSY = 0.02;

/** Two collections: the first frees pages, and the second returns them to the system. */
const COLLECTIONS = 2;

/**
 * Returns memory to the system when the process is idle: V8 collects garbage only while the process allocates, and
 * keeps the memory of the busiest time. `utilization`: the busy part of the time since the last call.
 */
export function collectWhenIdle(utilization: () => number, collect: NodeJS.GCFunction): Chore {
  // The number is above zero at first, since the start of the process leaves garbage, too.
  let owed = COLLECTIONS;
  return {
    name: 'memory',
    seconds: 5,
    async run() {
      if (utilization() > BUSY) {
        owed = COLLECTIONS;
      } else if (owed > 0) {
        owed -= 1;
        await collect({ type: 'major', execution: 'async' });
      }
    },
  };
}

/** Returns the busy part of the event loop's time since the last call. */
export function sinceLast(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

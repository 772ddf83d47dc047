import type { Chore } from './chore.ts';

/** The busy part of the time above which no garbage is collected, since it would delay a request. */
const BUSY = 0.02;

/** The first makes pages free, and the second gives them back. */
const COLLECTIONS = 2;

/**
 * Gives memory back when the process is idle: V8 collects garbage only while the process allocates, and keeps the
 * memory of the busiest time. `utilization`: the busy part of the time since the last call.
 */
export function collectWhenIdle(utilization: () => number, collect: NodeJS.GCFunction): Chore {
  // Starts above zero, since the start of the process leaves garbage, too.
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

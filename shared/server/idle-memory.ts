import type { Chore } from './chore.ts';

/** The part of the time from which on the process is busy, and whoever asks would meet a collection. */
const BUSY = 0.02;

/** The first makes pages free, and the second gives them back. */
const COLLECTIONS = 2;

/**
 * Gives memory back once the process has nothing to do: V8 collects only while more is asked for, and keeps what the
 * busiest time took. `utilization`: the part of the time since the last call in which the process worked.
 */
export function collectWhenIdle(utilization: () => number, collect: NodeJS.GCFunction): Chore {
  // A start leaves garbage, too.
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

/** The part of the time since the last call in which the event loop did not wait. */
export function sinceLast(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

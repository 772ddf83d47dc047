import { setTimeout as sleep } from 'node:timers/promises';
import { setTimeout } from './safe-timers.ts';

/** Waiting is an argument, as the time is: a simulation waits by its own clock. All durations are milliseconds. */
export interface Timers {
  /** Waits; rejects when aborted. `ref: false`: the process may end meanwhile. */
  sleep(
    milliseconds: number,
    options?: { readonly signal?: AbortSignal; readonly ref?: boolean },
  ): Promise<unknown>;
  /** Calls `callback` once, unless the returned function is called before. */
  later(milliseconds: number, callback: () => void): () => void;
  /** Returns a signal that aborts by itself. */
  timeout(milliseconds: number): AbortSignal;
}

export const systemTimers: Timers = {
  sleep: (milliseconds, options) => sleep(milliseconds, undefined, options),
  later(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  timeout: (milliseconds) => AbortSignal.timeout(milliseconds),
};

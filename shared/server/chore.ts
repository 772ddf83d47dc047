import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** A task that runs again and again while the process runs. */
export interface Chore {
  /** The task's name in the log if it fails. */
  readonly name: string;
  readonly seconds: number;
  /** Runs the task. It is not called while an earlier run is unfinished. */
  run(): Promise<unknown>;
}

/**
 * Starts the task; disposing of the result stops it. A failed run is logged. If several runs in a row fail because
 * the store fails, only the first is logged: `store.failing` reports the outage.
 */
export function every({ name, seconds, run }: Chore, log: Log): Disposable {
  let running = false;
  let ended = false;
  let lacksStore = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    run()
      .then(
        () => (lacksStore = false),
        (error: unknown) => {
          const isTold = lacksStore;
          lacksStore = error instanceof StoreUnavailable;
          // A run may fail because the process ends and closes the stores, so such a failure is not logged.
          if (!ended && !(isTold && lacksStore)) log.warn(name, { reason: String(error) });
        },
      )
      .finally(() => (running = false));
  }, seconds * 1000);
  return {
    [Symbol.dispose]: () => {
      ended = true;
      clearInterval(timer);
    },
  };
}

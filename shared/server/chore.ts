import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Work to be done again and again while the process runs. */
export interface Chore {
  /** Names it in the log when it fails. */
  readonly name: string;
  readonly seconds: number;
  /** Not called while an earlier call is under way. */
  run(): Promise<unknown>;
}

/**
 * Begins it, until disposed of. A run that fails is said in the log, but only the first of those that fail one after another since
 * the store does: `store.failing` says the rest.
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
          // It may be cut short by the end of the process, which closes the stores.
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

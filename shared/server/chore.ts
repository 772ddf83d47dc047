import type { Log } from '#shared/base/log.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Work to be done again and again while the process runs. */
export interface Chore {
  /** Names it in the log when it fails. */
  readonly name: string;
  readonly seconds: number;
  /** Not called while an earlier call is under way. */
  run(): Promise<unknown>;
}

/** Begins it, until disposed of. A run that fails is said in the log. */
export function every({ name, seconds, run }: Chore, log: Log): Disposable {
  let running = false;
  let ended = false;
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    run()
      .catch((error: unknown) => {
        // It may be cut short by the end of the process, which closes the stores.
        if (!ended) log.warn(name, { reason: String(error) });
      })
      .finally(() => (running = false));
  }, seconds * 1000);
  return {
    [Symbol.dispose]: () => {
      ended = true;
      clearInterval(timer);
    },
  };
}

import type { Log } from '#shared/base/log.ts';

/** Milliseconds without a failure after which an outage is over. */
const QUIET = 5_000;

/** Says in the log when something begins to fail, and when it works again, once each however often it is tried. */
export class Outage {
  readonly #part: string;
  readonly #log: Log;
  readonly #monotonic: () => number;
  #failed: number | undefined;

  /** `part`: what fails, for the log. */
  constructor(part: string, log: Log, monotonic: () => number) {
    this.#part = part;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  failed(cause: unknown): void {
    if (this.#failed === undefined) {
      this.#log.error('store.failing', { part: this.#part, reason: String(cause) });
    }
    this.#failed = this.#monotonic();
  }

  worked(): void {
    if (this.#failed === undefined || this.#monotonic() - this.#failed < QUIET) return;
    this.#failed = undefined;
    this.#log.warn('store.working', { part: this.#part });
  }
}

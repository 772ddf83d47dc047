import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from './unavailable.ts';

/** Milliseconds without a failure after which an outage is over. */
const QUIET = 5_000;

/**
 * Says in the log when something begins to fail, and when it works again, once each however often it is tried. Readiness
 * says the same (`check`).
 */
export class Outage {
  readonly #part: string;
  readonly #log: Log;
  readonly #monotonic: () => number;
  #failed: number | undefined;
  #reason = '';

  /** `part`: what fails, for the log. */
  constructor(part: string, log: Log, monotonic: () => number) {
    this.#part = part;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  /** `isAnother`: the log has to say so although something has failed already. */
  failed(cause: unknown, isAnother = false): void {
    this.#reason = String(cause);
    if (this.#failed === undefined || isAnother) {
      this.#log.error('store.failing', { part: this.#part, reason: this.#reason });
    }
    this.#failed = this.#monotonic();
  }

  worked(): void {
    if (this.#failed === undefined || this.#monotonic() - this.#failed < QUIET) return;
    this.#failed = undefined;
    this.#log.warn('store.working', { part: this.#part });
  }

  get isFailing(): boolean {
    return this.#failed !== undefined;
  }

  /** Throws the last failure from when the log says that it fails until the log says that it works. */
  check(): void {
    if (this.#failed === undefined) return;
    throw new StoreUnavailable(`${this.#part} failed a moment ago: ${this.#reason}`);
  }
}

import type { Log } from '#shared/base/log.ts';
import { StoreUnavailable } from './unavailable.ts';

/** Milliseconds without a failure after which an outage is over. */
const QUIET = 5_000;

/** Logs when a part begins to fail and when it works again, once each. Readiness uses the same state (`check`). */
export class Outage {
  readonly #part: string;
  readonly #log: Log;
  readonly #monotonic: () => number;
  #failed: number | undefined;
  #reason = '';

  /** `part`: the name in the log. */
  constructor(part: string, log: Log, monotonic: () => number) {
    this.#part = part;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  /** `isAnother`: log this failure, even during another. */
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

  /** Throws the last failure, from the log line of the failure until the log line of the recovery. */
  check(): void {
    if (this.#failed === undefined) return;
    throw new StoreUnavailable(`${this.#part} failed a moment ago: ${this.#reason}`);
  }
}

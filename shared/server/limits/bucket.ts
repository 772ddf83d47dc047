import type { Clock } from '#shared/base/clock.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';

/** A token bucket in memory: for what is counted on one connection. */
export class Bucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #filled: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filled = clock.now();
  }

  /** False: it is empty. A clock that is set back fills nothing. */
  take(): boolean {
    const { burst, per } = this.#rate;
    const now = this.#clock.now();
    const grown = Math.max(0, now - this.#filled) / (per * 1000);
    this.#tokens = Math.min(burst, this.#tokens + grown);
    this.#filled = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** Time is an argument: code that needs the time gets a `Clock`. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Milliseconds of a monotonic clock, since an arbitrary moment. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** A clock that a test sets. */
export class ManualClock implements Clock {
  #now: number;
  #monotonic = 0;

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  advance(seconds: number): void {
    this.set(seconds);
    this.#monotonic += seconds * 1000;
  }

  /** Sets the clock forward or back while no time passes. */
  set(seconds: number): void {
    this.#now += seconds * 1000;
  }
}

/**
 * True if a time in milliseconds is less than `life` seconds ago. `skew`: seconds by which the clock of the process
 * that wrote the time may be ahead. A later time means that a clock was set back since, so the result is false.
 */
export function isWithin(
  clock: Pick<Clock, 'now'>,
  time: number,
  { life, skew }: { readonly life: number; readonly skew: number },
): boolean {
  const age = clock.now() - time;
  return age >= -skew * 1000 && age < life * 1000;
}

/** NumericDate (RFC 7519 section 2): whole seconds. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

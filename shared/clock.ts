/** Time is an argument: everything that asks what time it is takes a `Clock`. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that a test moves by hand. */
export class ManualClock implements Clock {
  #now: number;

  constructor(now = 1_800_000_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  advance(seconds: number): void {
    this.#now += seconds * 1000;
  }
}

/** NumericDate (RFC 7519 section 2): whole seconds. */
export function epochSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

/**
 * Milliseconds for which what must not be accepted again is remembered beyond its end. A clock that is
 * ahead, by this much at most, makes nobody forget what still bites once the clock is set right.
 */
export const CLOCK_MARGIN = 3 * 86_400_000;

/** The longest time, in seconds, for which any server accepts a token after its issue. */
export function longestLife({
  tokens: { lifetime, skew },
}: {
  /** Seconds. */
  readonly tokens: { readonly lifetime: number; readonly skew: number };
}): number {
  return lifetime + skew;
}

/** Seconds from the issue of a gateway's statement to its end. */
export const STATEMENT_LIFE = 60;

/** The longest time, in seconds, for which an application with a clock that is right accepts a statement. */
export function longestStatementLife({
  tokens: { skew },
}: {
  readonly tokens: { readonly skew: number };
}): number {
  return STATEMENT_LIFE + skew;
}

/**
 * Returns the time until which a revocation must be remembered (milliseconds since the epoch). By then the last token
 * that it concerns has expired, if no clock is wrong by more than three days. `life`: seconds.
 */
export function rememberUntil(now: number, life: number): number {
  return now + life * 1000 + CLOCK_MARGIN;
}

/** Milliseconds for which revocations and spent tokens are kept beyond their end: a clock may be ahead by as much. */
export const CLOCK_MARGIN = 3 * 86_400_000;

/** The part of the configuration with times in seconds. */
interface TokenTimes {
  readonly tokens: { readonly lifetime: number; readonly skew: number };
}

/** Returns the longest time in seconds for which a server accepts a token after its issue. */
export function longestLife({ tokens: { lifetime, skew } }: TokenTimes): number {
  return lifetime + skew;
}

/** Seconds from the issue of a gateway's statement to its end. */
export const STATEMENT_LIFE = 60;

/** Returns the longest time in seconds for which an application with a correct clock accepts a statement. */
export function longestStatementLife({ tokens: { skew } }: TokenTimes): number {
  return STATEMENT_LIFE + skew;
}

/** Returns when the last token of a revocation has expired, with a margin of three days. `life`: seconds. */
export function rememberUntil(now: number, life: number): number {
  return now + life * 1000 + CLOCK_MARGIN;
}

import type { Config } from '#shared/config/schema.ts';

const MARGIN = 3_600_000;

/** The longest time, in seconds, for which any server accepts a token after its issue. */
export function longestLife(config: Pick<Config, 'tokens'>): number {
  return config.tokens.lifetime + config.tokens.skew;
}

/**
 * Until when a revocation must be remembered (milliseconds since the epoch): the last token that it
 * concerns has expired by then, whatever the clocks say within an hour. `life`: seconds.
 */
export function rememberUntil(now: number, life: number): number {
  return now + life * 1000 + MARGIN;
}

import type { LimitNamespace, Rate, Spent } from './limits.ts';

/**
 * A part of a bucket's time, in whole microseconds of the store's clock: that between when the bucket would have
 * been full again and when it will be now. An interval of it is one use.
 */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

export interface Asked {
  readonly wanted: number;
  /** Of all that may come now; so much is taken where it is more than is wanted. */
  readonly share: number;
  /** What is left of the stretch that the caller took last: it goes back, unless somebody has taken since. */
  readonly unused?: Stretch | undefined;
}

/** As many uses as were wanted, or as there are. */
export interface Taken extends Stretch {
  /** What the store's clock said. */
  readonly now: number;
}

/**
 * What a store keeps of limits, by the generic cell rate algorithm: of each bucket only the time when it is
 * full again, never later than that of an empty one, whatever was kept: clocks are set back, rates change.
 */
export interface Buckets {
  take(namespace: LimitNamespace, key: string, rate: Rate, asked: Asked): Promise<Taken>;
  giveBack(namespace: LimitNamespace, key: string, rate: Rate): Promise<void>;
}

/** Microseconds after which one more is allowed: whole ones, so that no rounding takes one from the burst. */
export const intervalOf = ({ per }: Rate): number => Math.ceil(per * 1_000_000);

/** What is told of one use, or of none. */
export function spentOf(rate: Rate, { from, until, now }: Taken): Spent {
  const interval = intervalOf(rate);
  if (from === until) {
    const wait = from - now - (rate.burst - 1) * interval;
    return { ok: false, retryAfter: Math.ceil(wait / 1_000_000) };
  }
  return {
    ok: true,
    remaining: Math.floor(rate.burst - (until - now) / interval),
    reset: Math.ceil((until - now) / 1_000_000),
  };
}

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
  /** A share of all that may be taken now: the store takes this much if it is more than `wanted`. */
  readonly share: number;
  /** The rest of the stretch that the caller took last. It goes back, unless somebody else has taken since. */
  readonly unused?: Stretch | undefined;
}

/** The uses that were taken: as many as were wanted, or as are left. */
export interface Taken extends Stretch {
  /** The time of the store's clock. */
  readonly now: number;
}

/**
 * The rows of limits in a store, by the generic cell rate algorithm: for each bucket only the time when it is full
 * again. That time is never later than that of an empty bucket, whatever the row says: clocks are set back, and rates
 * change.
 */
export interface Buckets {
  take(namespace: LimitNamespace, key: string, rate: Rate, asked: Asked): Promise<Taken>;
  giveBack(namespace: LimitNamespace, key: string, rate: Rate): Promise<void>;
}

/** Microseconds after which one more is allowed: whole ones, so that no rounding takes one from the burst. */
export const intervalOf = ({ per }: Rate): number => Math.ceil(per * 1_000_000);

/** Returns how many more uses may come. */
export const leftOf = (rate: Rate, { until, now }: Pick<Taken, 'until' | 'now'>): number =>
  Math.floor(rate.burst - (until - now) / intervalOf(rate));

/** Returns the answer to one use, or to none. */
export function spentOf(rate: Rate, { from, until, now }: Taken): Spent {
  const interval = intervalOf(rate);
  if (from === until) {
    const wait = from - now - (rate.burst - 1) * interval;
    return { ok: false, retryAfter: Math.ceil(wait / 1_000_000) };
  }
  return {
    ok: true,
    remaining: leftOf(rate, { until, now }),
    reset: Math.ceil((until - now) / 1_000_000),
  };
}

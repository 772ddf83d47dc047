import type { LimitNamespace, Rate, Spent } from './limits.ts';

/**
 * A part of a bucket's time, in whole microseconds of the store's clock. It begins when the bucket would have been
 * full, and ends when the bucket will be full. An interval of it is one use.
 */
export interface Stretch {
  readonly from: number;
  readonly until: number;
}

export interface Asked {
  readonly wanted: number;
  /** A share of the uses that are available. The store takes this share if it is more than `wanted`. */
  readonly share: number;
  /** The rest of the last stretch of the caller. The store takes it back, unless another process has taken since. */
  readonly unused?: Stretch | undefined;
}

/** The uses that were taken: the number wanted, or the rest. */
export interface Taken extends Stretch {
  /** The time of the store's clock. */
  readonly now: number;
}

/**
 * Limits in a store, by the generic cell rate algorithm: each bucket has the time when it will be full. The time is
 * never later than that of an empty bucket, since clocks are set back and rates change.
 */
export interface Buckets {
  take(namespace: LimitNamespace, key: string, rate: Rate, asked: Asked): Promise<Taken>;
  giveBack(namespace: LimitNamespace, key: string, rate: Rate): Promise<void>;
}

/** Microseconds until the next use is allowed. Whole numbers, so that rounding takes no use from the burst. */
export const intervalOf = ({ per }: Rate): number => Math.ceil(per * 1_000_000);

/** Returns the number of remaining uses. */
export const leftOf = (rate: Rate, { until, now }: Pick<Taken, 'until' | 'now'>): number =>
  Math.floor(rate.burst - (until - now) / intervalOf(rate));

/** Returns the answer to one use; no use was taken if the stretch is empty. */
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

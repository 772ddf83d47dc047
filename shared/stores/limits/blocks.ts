import type { Clock } from '#shared/base/clock.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { type Bucket, HeldBucket } from './held-bucket.ts';
import { type Buckets, leftOf, spentOf } from './buckets.ts';
import type { LimitNamespace, Limits, Spent } from './limits.ts';
import { boundedWaiting } from '../outage/waiting.ts';

/** The limits that many requests use: their keys are known, or leave no row behind. */
const IN_BLOCKS: ReadonlySet<LimitNamespace> = new Set([
  'address',
  'all-visits',
  'api-key',
  'client',
]);

/** Most buckets of which this process holds a part. It loses the part of a bucket that is not used for long. */
const CAPACITY = 10_000;

/**
 * Limits over a store. Of some limits a process takes several uses at once, and spends them without the store. Each
 * answer equals the answer of the store, but for uses by other processes since the last query.
 */
export function limitsOver(buckets: Buckets, clock: Clock): Limits {
  const held = new RecentMap<HeldBucket>(CAPACITY);
  const waiting = boundedWaiting();

  /** Two rates of one bucket are held separately, as in two processes. */
  function heldOf([namespace, key, { burst, per }]: Bucket): HeldBucket {
    const name = `${namespace} ${burst} ${per} ${key}`;
    const known = held.get(name);
    if (known !== undefined) return known;
    const made = new HeldBucket(buckets, clock, waiting);
    held.set(name, made);
    return made;
  }

  async function spendOne([namespace, key, rate]: Bucket): Promise<Spent> {
    return spentOf(rate, await buckets.take(namespace, key, rate, { wanted: 1, share: 0 }));
  }

  return {
    spend: (...bucket) =>
      IN_BLOCKS.has(bucket[0]) ? heldOf(bucket).spend(bucket) : spendOne(bucket),
    take: async (namespace, key, rate, amount) =>
      leftOf(rate, await buckets.take(namespace, key, rate, { wanted: amount, share: 0 })),
    giveBack: (...bucket) =>
      IN_BLOCKS.has(bucket[0]) ? heldOf(bucket).giveBack(bucket) : buckets.giveBack(...bucket),
  };
}

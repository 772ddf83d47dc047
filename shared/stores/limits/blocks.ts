import type { Clock } from '#shared/base/clock.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { type Bucket, HeldBucket } from './held-bucket.ts';
import { type Buckets, leftOf, spentOf } from './buckets.ts';
import type { LimitNamespace, Limits, Spent } from './limits.ts';
import { boundedWaiting } from '../outage/waiting.ts';

/** The limits that many requests spend: their keys are known, or leave no row behind. */
const IN_BLOCKS: ReadonlySet<LimitNamespace> = new Set([
  'address',
  'all-visits',
  'api-key',
  'client',
]);

/** Buckets of which something is held. Of one that nobody asked for lately it is lost. */
const CAPACITY = 10_000;

/**
 * Limits over what a store keeps: of some a process takes several uses at once, and spends them without the
 * store. It tells of each what it would if it had been taken there alone; of several processes each knows of the
 * others what the store knew when it was asked last.
 */
export function limitsOver(buckets: Buckets, clock: Clock): Limits {
  const held = new RecentMap<HeldBucket>(CAPACITY);
  const waiting = boundedWaiting();

  /** Two rates of one bucket are held apart, as by two processes. */
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

import type { Clock } from '#shared/base/clock.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Limits, Rate } from '#shared/stores/limits/limits.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';

/** Milliseconds of the store's time per unit. Shorter work adds up until it reaches a unit. */
const UNIT = 10;
/** Units that may be used at once: three seconds. */
const AT_ONCE = 300;
/** Units that may be overdrawn, since work is counted after it ends, in several processes at once. */
const MOST_OWED = 1000;
/** The most milliseconds that a change waits. */
const LONGEST_WAIT = 10_000;
/** The most holders whose use this process remembers. */
const CAPACITY = 10_000;

/** A bucket that refills by one unit in the time in which a part of the store's time makes one unit. */
const rateOf = (part: number): Rate => ({
  burst: AT_ONCE + MOST_OWED,
  per: UNIT / 1000 / part,
});

const OF_EACH = { namespace: 'whole-trees', rate: rateOf(1 / 4) } as const;
const OF_ALL = { namespace: 'all-whole-trees', rate: rateOf(1 / 2) } as const;

/** The share of the store's time that changes of whole trees may use. */
export interface StoreShare {
  /**
   * Resolves when the holder may continue. Throws HttpError 429 if it would have to wait longer than a change may wait.
   */
  ofOne(holder: string): Promise<void>;
  /** Resolves when all holders together are below their share, and at the latest after the longest wait. */
  ofAll(): Promise<void>;
  /** Runs work and counts its time, even if it fails. */
  counted<T>(holder: string, work: () => Promise<T>): Promise<T>;
}

export interface StoreShareParts {
  readonly limits: Pick<Limits, 'take'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

/** A bucket as last seen by this process. */
interface Account {
  readonly bucket: typeof OF_EACH | typeof OF_ALL;
  readonly key: string;
  /** Milliseconds that are not yet counted in the store. */
  used: number;
  /** The time from which the holder may continue, by the monotonic clock. */
  free: number;
}

/**
 * Limits each holder to a quarter of the store's time, and all holders together to half, across processes.
 * The limit is on time instead of rows, so it fits any store and machine, and a change of few rows costs little. A
 * change is counted when it ends. A process learns the use in other processes when it counts a unit itself.
 */
export function createStoreShare({ limits, clock, pause }: StoreShareParts): StoreShare {
  const newAccount = (bucket: Account['bucket'], key: string): Account => ({
    bucket,
    key,
    used: 0,
    free: 0,
  });
  const holders = new RecentMap<Account>(CAPACITY);
  const all = newAccount(OF_ALL, 'all');

  function accountOf(holder: string): Account {
    const known = holders.get(holder);
    if (known !== undefined) return known;
    const made = newAccount(OF_EACH, holder);
    holders.set(holder, made);
    return made;
  }

  async function wait(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await pause(milliseconds);
  }

  const waitOf = ({ free }: Account) => free - clock.monotonic();

  async function count(account: Account, milliseconds: number): Promise<void> {
    const { bucket, key } = account;
    const { namespace, rate } = bucket;
    account.used += milliseconds;
    const units = Math.floor(account.used / UNIT);
    if (units === 0) return;
    account.used -= units * UNIT;
    const left = await limits.take(namespace, key, rate, units).catch(unlessUnavailable);
    if (left === undefined) return;
    account.free = clock.monotonic() + (MOST_OWED - left) * rate.per * 1000;
  }

  return {
    async ofOne(holder) {
      const milliseconds = waitOf(accountOf(holder));
      if (milliseconds <= LONGEST_WAIT) return wait(milliseconds);
      throw new HttpError(429, 'You have changed many collections. Try again later.', {
        'Retry-After': String(Math.ceil(milliseconds / 1000)),
      });
    },
    ofAll: () => wait(Math.min(waitOf(all), LONGEST_WAIT)),
    async counted(holder, work) {
      const began = clock.monotonic();
      const [done] = await Promise.allSettled([work()]);
      const used = clock.monotonic() - began;
      await Promise.all([accountOf(holder), all].map((account) => count(account, used)));
      if (done.status === 'rejected') throw done.reason;
      return done.value;
    },
  };
}

/** During an outage of the store nothing is counted, since the change is already done. */
function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error;
}

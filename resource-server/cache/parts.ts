import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { InvalidationFeed } from '#shared/stores/cache/invalidations.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { Asking } from './asking.ts';
import type { Fills } from './fills.ts';
import type { Bans } from './purge/bans.ts';
import type { Forwarded, Handling } from './rules/cache-status.ts';
import type { Policy } from './rules/freshness.ts';
import type { Forgotten } from './rules/invalidating.ts';
import type { Rules } from './rules/rules.ts';
import type { CacheStore } from './store/cache-store.ts';
import type { CacheKey, Stored } from './rules/stored.ts';

export interface CacheParts {
  readonly rules: Rules;
  readonly store: CacheStore;
  readonly bans: Bans;
  readonly feed: Pick<InvalidationFeed, 'latest'>;
  /** Tells the caches of all processes to remove entries. Resolves when the feed has the invalidation. */
  readonly invalidate: (forgotten: readonly Forgotten[]) => Promise<void>;
  /** Rejects with `StoreUnavailable` if the store cannot be written. */
  readonly writable: () => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
}

/** A stored answer that may be used. */
export interface Hit {
  readonly stored: Stored;
  /** Seconds. */
  readonly age: number;
  readonly ttl: number;
}

/** A request that no stored answer can serve without asking the application. */
export interface Look {
  readonly asking: Asking;
  readonly key: CacheKey;
  readonly fwd: Forwarded;
  /** The answers that are stored under the key. */
  readonly variants: readonly Stored[];
  /** The stored answer that would serve the request after a validation. */
  readonly stored: Stored | undefined;
  /** Seconds for which `stored` may still replace an error. */
  readonly onError: number;
  /** Whether `stored` may be sent if the application does not answer at all. */
  readonly disconnected: boolean;
}

export interface AskParts extends CacheParts {
  readonly forget: (forgotten: Forgotten) => void;
  /** Whether the cache has read all invalidations since `since`, a time of `monotonic()`. */
  readonly isUpToDate: (since: number) => Awaitable<boolean>;
  readonly fills: Fills;
  readonly policy: (stored: Stored) => Policy;
  readonly member: (handling: Handling) => string;
  readonly hit: (
    asking: Asking,
    hit: Hit,
    handling: Handling,
  ) => Awaitable<ResourceAnswer | undefined>;
}

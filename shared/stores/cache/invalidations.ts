import type { Awaitable } from '#shared/base/awaitable.ts';

/**
 * An entry that makes the caches of all gateways forget answers. `target`: a path with its query, as in the cache's
 * keys; `tree`: a path and everything below it; `ban`: a rule in JSON that the caches understand.
 */
export interface Invalidation {
  /** The path of the space's URL: it names the space at both origins of a server. */
  readonly space: string;
  readonly kind: 'target' | 'tree' | 'ban';
  /** At most 8 KiB. */
  readonly value: string;
  /** True if the answers are only outdated: they may be used again after a validation. */
  readonly soft: boolean;
}

/** One as it was kept. */
export interface KeptInvalidation extends Invalidation {
  /** Milliseconds since the epoch, by the store's clock or the writer's. */
  readonly at: number;
  /** Where it stands in the feed. */
  readonly position: string;
}

export interface InvalidationListener {
  /** Called once for each, in the order of the feed; what it throws is a defect. */
  apply(invalidation: KeptInvalidation): void;
  /** The entries after the known position are lost, so every cache must forget everything. */
  lost(): void;
}

/** Follows the invalidations, for one process. */
export interface InvalidationFeed extends AsyncDisposable {
  /** All up to here was given to the listener. Empty: nowhere that is known. */
  readonly position: string;
  /**
   * Resolves when the listener has every invalidation that was acknowledged before `since` (a time of `monotonic()`, such
   * as the arrival of a request). The store is not asked if that is known already. Throws or rejects with
   * `StoreUnavailable` if the store cannot tell; then the caller must not use anything that it has cached.
   */
  latest(since: number): Awaitable<void>;
}

/** How long they are kept, in milliseconds, */
export const INVALIDATION_LIFE = 86_400_000;
/** how many at most, */
export const MOST_INVALIDATIONS = 100_000;
/** with how many octets of values, about; a server that was away for more has heard too little, */
export const MOST_INVALIDATION_OCTETS = 64 * 1024 * 1024;
/** and of how many octets the value of each is at most. */
export const LONGEST_INVALIDATION = 8_192;

/** An append-only feed, kept for a day and bounded in number and octets. */
export interface Invalidations {
  /** Appends all at once; resolves only when durable as configured. Rejects with `RangeError` what is too long. */
  add(invalidations: readonly Invalidation[]): Promise<void>;
  /** The last ones of a kind, newest first, at most `most`. */
  list(kind: Invalidation['kind'], most: number): Promise<readonly KeptInvalidation[]>;
  /**
   * Opens a feed that begins behind `from`, by default with what comes next. Where that is not known any more the
   * listener hears `lost`. Resolves when all is read, or cannot be read now.
   */
  feed(listener: InvalidationListener, from?: string): Promise<InvalidationFeed>;
}

/** Throws `RangeError` for what is too long to be kept. */
export function checkLengths(invalidations: readonly Invalidation[]): void {
  for (const { value } of invalidations) {
    if (Buffer.byteLength(value) > LONGEST_INVALIDATION) {
      throw new RangeError(`an invalidation of more than ${LONGEST_INVALIDATION} octets`);
    }
  }
}

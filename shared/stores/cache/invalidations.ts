import type { Awaitable } from '#shared/base/awaitable.ts';

/**
 * An entry that makes all caches forget answers: of a path with its query, of a path and all below, or by a rule in
 * JSON.
 */
export interface Invalidation {
  /** The path of the space's URL. Both origins of a server use it. */
  readonly space: string;
  readonly kind: 'target' | 'tree' | 'ban';
  /** At most 8 KiB. */
  readonly value: string;
  /** True if the answers are only outdated: they may be used again after a validation. */
  readonly soft: boolean;
}

/** A stored invalidation. */
export interface KeptInvalidation extends Invalidation {
  /** Milliseconds since the epoch, by the store's clock or the writer's. */
  readonly at: number;
  /** The position in the feed. */
  readonly position: string;
}

export interface InvalidationListener {
  /** Called once for each invalidation, in the order of the feed. An exception is a defect. */
  apply(invalidation: KeptInvalidation): void;
  /** The entries after the known position are lost, so every cache must forget everything. */
  lost(): void;
}

/** Follows the invalidations, for one process. */
export interface InvalidationFeed extends AsyncDisposable {
  /** The listener has all invalidations up to this position. Empty: unknown. */
  readonly position: string;
  /**
   * Resolves when the listener has every invalidation that was acknowledged before `since` (a time of `monotonic()`,
   * such as the arrival of a request). Asks the store only if necessary. If it throws or rejects with
   * `StoreUnavailable`, the caller must not use cached answers.
   */
  latest(since: number): Awaitable<void>;
}

/** Milliseconds for which an invalidation is kept. */
export const INVALIDATION_LIFE = 86_400_000;
/** Most invalidations that are kept. */
export const MOST_INVALIDATIONS = 100_000;
/** About the most octets of values that are kept. A gateway that misses more forgets its whole cache. */
export const MOST_INVALIDATION_OCTETS = 64 * 1024 * 1024;
/** Most octets of one value. */
export const LONGEST_INVALIDATION = 8_192;

/** An append-only feed, kept for a day and bounded in number and octets. */
export interface Invalidations {
  /** Appends all invalidations at once, durably. Rejects with `RangeError` if a value is too long. */
  add(invalidations: readonly Invalidation[]): Promise<void>;
  /** Returns at most `most` invalidations of a kind, newest first. */
  list(kind: Invalidation['kind'], most: number): Promise<readonly KeptInvalidation[]>;
  /** Opens a feed that begins after `from`, by default at the end. If `from` is unknown, calls `lost`. */
  feed(listener: InvalidationListener, from?: string): Promise<InvalidationFeed>;
}

/** Throws `RangeError` if a value is too long. */
export function checkLengths(invalidations: readonly Invalidation[]): void {
  for (const { value } of invalidations) {
    if (Buffer.byteLength(value) > LONGEST_INVALIDATION) {
      throw new RangeError(`an invalidation of more than ${LONGEST_INVALIDATION} octets`);
    }
  }
}

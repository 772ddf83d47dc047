import type { FeedPosition } from './feed-position.ts';
import type { Revocation } from './revocations.ts';

/**
 * A process of the authorization server that has followers (authz-server/revocations/): servers elsewhere, which
 * trust what it told them for a lease.
 */
export interface FollowedProcess {
  /** Random. */
  readonly id: string;
  /** An entry of the feed: whatever its followers trust holds all up to here. */
  readonly confirmed: number;
  /** Milliseconds for which a follower trusts an answer. */
  readonly lease: number;
  /** Another number with each writing. */
  readonly beat: number;
}

/** The state of the followers, which somebody who revokes looks at. */
export interface Following {
  readonly epoch: string | undefined;
  /** The last entry of the feed. */
  readonly last: number;
  readonly processes: readonly FollowedProcess[];
  /** No follower trusts what it was told by the memory that the store had before this one. */
  readonly settled: boolean;
}

/** A stretch of the feed. */
export interface FeedPage {
  readonly epoch: string | undefined;
  /** The last entry that is in it or before it. */
  readonly last: number;
  /** Whether there is none behind it. */
  readonly complete: boolean;
  readonly entries: readonly FeedEntry[];
}

export type FeedEntry = Revocation & {
  /** Milliseconds since the epoch, after which it may be forgotten. */
  readonly until: number;
};

/** The followers of all processes, beside the feed that they follow. */
export interface Followers {
  look(): Promise<Following>;
  /** As durable as a revocation. False, and nothing written, when the store has another memory than `epoch`. */
  put(process: FollowedProcess, epoch: string): Promise<boolean>;
  /** Removes the row if it is still this one. */
  remove(process: FollowedProcess): Promise<void>;
  /** Writes that all is settled, in the memory of this epoch or in one that has none yet. */
  settle(epoch: string | undefined): Promise<void>;
  /**
   * Returns the entries behind a position, at most `count`, oldest first; from the beginning if the position is not of
   * this memory. All that was acknowledged before the call is in the page, or comes behind it.
   */
  page(after: FeedPosition | undefined, count: number): Promise<FeedPage>;
}

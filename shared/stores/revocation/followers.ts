import type { FeedPosition } from './feed-position.ts';
import type { Revocation } from './revocations.ts';

/** A process of the authorization server with followers: remote servers that trust its answers for a lease. */
export interface FollowedProcess {
  /** Random. */
  readonly id: string;
  /** An entry of the feed. Each answer that a follower trusts has all entries up to this one. */
  readonly confirmed: number;
  /** Milliseconds for which a follower trusts an answer. */
  readonly lease: number;
  /** A new number with each write. */
  readonly beat: number;
}

/** The state of the followers, for a process that revokes. */
export interface Following {
  readonly epoch: string | undefined;
  /** The last entry of the feed. */
  readonly last: number;
  readonly processes: readonly FollowedProcess[];
  /** True if no follower trusts an answer of an earlier epoch. */
  readonly settled: boolean;
}

/** A part of the feed. */
export interface FeedPage {
  readonly epoch: string | undefined;
  /** The last entry in the page or before it. */
  readonly last: number;
  /** True if no entry is after the page. */
  readonly complete: boolean;
  readonly entries: readonly FeedEntry[];
}

export type FeedEntry = Revocation & {
  /** Milliseconds since the epoch, after which it may be forgotten. */
  readonly until: number;
};

/** The processes with followers, and the feed that followers read. */
export interface Followers {
  look(): Promise<Following>;
  /** Writes the row as durably as a revocation. False: the store has another epoch, and nothing was written. */
  put(process: FollowedProcess, epoch: string): Promise<boolean>;
  /** Removes the row unless it has changed. */
  remove(process: FollowedProcess): Promise<void>;
  /** Writes that this epoch is settled; undefined: a store without an epoch. */
  settle(epoch: string | undefined): Promise<void>;
  /**
   * Returns at most `count` entries after a position, oldest first; from the beginning if the position is of another
   * epoch. All entries that were acknowledged before the call are in the page or after it.
   */
  page(after: FeedPosition | undefined, count: number): Promise<FeedPage>;
}

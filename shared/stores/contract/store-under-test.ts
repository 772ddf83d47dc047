import type { Clock } from '#shared/base/clock.ts';
import type { StoresSpec } from '../open.ts';
import type { Stores } from '../stores.ts';

/** JSON by which another process opens the same store. */
export interface StoreSpec extends StoresSpec {
  /** Where the other process's clock stands, in milliseconds since the epoch. */
  readonly now: number;
  /** Seconds: the longest life of a token and the skew. */
  readonly longestLife: number;
}

/** One real store that the contract is tried on. It begins empty, without an epoch. */
export interface StoreUnderTest {
  /** The clock that every `open()` uses. */
  readonly clock: Clock;
  spec(): StoreSpec;
  /** A new `Stores` with connections of its own; the contract disposes of it. */
  open(): Promise<Stores>;
  /** Rows or keys in all, bookkeeping included. */
  countAll(): Promise<number>;
  /**
   * Lets time pass for all that expires. If a store's clock cannot be moved, the
   * remaining lifetimes are shortened instead. The contract passes clearly less or clearly more than a lifetime.
   */
  passSeconds(seconds: number): Promise<void>;
  /**
   * The store loses everything, epoch included, under open `Stores` and feeds: FLUSHALL, or another
   * file moved into the place of state.db. Open `Stores` go on with what is there now.
   */
  forget(): Promise<void>;
  end(): Promise<void>;
}

/** The arguments of each part of the contract: the store, and two `Stores` that know nothing of one another. */
export interface Contract {
  readonly store: StoreUnderTest;
  readonly one: Stores;
  readonly other: Stores;
}

import type { Clock } from '#shared/base/clock.ts';
import type { StoresSpec } from '../open.ts';
import type { Stores } from '../stores.ts';

/** JSON by which another process opens the same store. */
export interface StoreSpec extends StoresSpec {
  /** The time of the other process's clock, in milliseconds since the epoch. */
  readonly now: number;
  /** Seconds: the longest life of a token and the skew. */
  readonly longestLife: number;
}

/** A real store on which the contract suite runs. It begins empty, without an epoch. */
export interface StoreUnderTest {
  /** The clock that every `open()` uses. */
  readonly clock: Clock;
  spec(): StoreSpec;
  /** A new `Stores` with connections of its own; the contract disposes of it. */
  open(): Promise<Stores>;
  /** Returns the number of all rows or keys, including internal ones. */
  countAll(): Promise<number>;
  /**
   * Lets time pass for all rows that expire. If a store's clock cannot be moved, the remaining lifetimes are shortened
   * instead. The time is always clearly shorter or clearly longer than a lifetime.
   */
  passSeconds(seconds: number): Promise<void>;
  /**
   * Removes all data, including the epoch, while `Stores` and feeds are open: by FLUSHALL, or by another file in place
   * of state.db. Open `Stores` continue with the new data.
   */
  forget(): Promise<void>;
  end(): Promise<void>;
}

/** The arguments of each part of the contract: the store, and two `Stores` that share no state in this process. */
export interface Contract {
  readonly store: StoreUnderTest;
  readonly one: Stores;
  readonly other: Stores;
}

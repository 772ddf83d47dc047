import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { Brand } from '#shared/pages/document.ts';
import type { Kept } from '#shared/stores/trees/kept.ts';
import type { Entry } from '#shared/stores/trees/trees.ts';
import type { LockSystem } from '../webdav/lock-system.ts';
import type { MadeMemory } from './made.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';
import type { ResourceStore } from '../content/resource-store.ts';

/** Services that the methods of all trees share. */
export interface Services {
  readonly locks: LockSystem;
  readonly kept: Kept;
  readonly made: MadeMemory;
  /** The brand of the pages that list collections. */
  readonly brand: Brand;
  readonly clock: Clock;
  /** The clock for the times of changes (`Trees.clock`). */
  readonly treeClock: Pick<Clock, 'now'>;
  readonly random: Random;
  /** The longest content of a document, in bytes. */
  readonly maxBytes: number;
}

/** The place that a request leads to: a path in the caller's tree. */
export interface Place {
  readonly store: ResourceStore;
  readonly path: string;
  /** Whether the target ends in a slash. */
  readonly slash: boolean;
  /**
   * The entry at the path when the place was resolved. A document is not found at its path with a slash. A write reads
   * the entry again.
   */
  readonly entry: Entry | undefined;
  /** The caller's name for locks and stored queries. */
  readonly principal: string;
  /** The holder to whom work and transfers are attributed: the account, or the address of an anonymous client. */
  readonly holder: string;
  /** The name of the tree, for data that is stored outside the tree. */
  readonly tree: string;
}

/** Performs one method at a place. */
export type Method = (context: ResourceContext, place: Place) => Promise<ResourceAnswer>;
export type MethodFactory = (services: Services) => Method;

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

/** What the methods of all trees share. */
export interface Services {
  readonly locks: LockSystem;
  readonly kept: Kept;
  readonly made: MadeMemory;
  /** Of the pages that list collections. */
  readonly brand: Brand;
  readonly clock: Clock;
  readonly random: Random;
  /** Longest content of a document, in bytes. */
  readonly maxBytes: number;
}

/** Where a request leads: a path in the tree of whoever asks. */
export interface Place {
  readonly store: ResourceStore;
  readonly path: string;
  /** The target ends in a slash. */
  readonly slash: boolean;
  /**
   * What was there a moment ago; a document is not at its path with a slash. What is written has to be
   * judged by a view of its own.
   */
  readonly entry: Entry | undefined;
  /** Who asks, as locks and kept queries remember it. */
  readonly principal: string;
  /** The tree's name, for what is kept outside it. */
  readonly tree: string;
}

/** Does one method at a place. */
export type Method = (context: ResourceContext, place: Place) => Promise<ResourceAnswer>;
export type MethodFactory = (services: Services) => Method;

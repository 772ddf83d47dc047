import type { CacheKey } from '../rules/stored.ts';
import { type Linked, Recency } from './recency.ts';

/** The data that a store has in memory for each answer. */
export interface Slot<S> extends CacheKey, Linked<S> {
  readonly id: string;
  readonly received: number;
}

/**
 * The most variants of one key. A client that invents values for the varying fields evicts only variants of the same
 * key.
 */
export const MOST_VARIANTS = 64;

const asked = ({ whose, content }: CacheKey) => `${content} ${whose}`;

/** An index of answers by key, target and id, in the order of their last use. */
export class Shelf<S extends Slot<S>> {
  /** The variants by target, then by the rest of their key. The most recently received comes first. */
  readonly #targets = new Map<string, Map<string, readonly S[]>>();
  readonly #slots = new Map<string, S>();
  /** The answers, the longest unused first. */
  readonly recency = new Recency<S>();

  get size(): number {
    return this.#slots.size;
  }

  /** Returns all variants of a key, and marks them as just used. */
  find(key: CacheKey): readonly S[] {
    const found = this.#targets.get(key.target)?.get(asked(key));
    if (found === undefined) return [];
    for (const slot of found) this.recency.touch(slot);
    return found;
  }

  get(id: string): S | undefined {
    return this.#slots.get(id);
  }

  ofTarget(target: string): S[] {
    return [...(this.#targets.get(target)?.values() ?? [])].flat();
  }

  all(): S[] {
    return [...this.#slots.values()];
  }

  /** Adds an answer. Returns the variant to remove, if its key has too many. */
  put(slot: S): S | undefined {
    let keys = this.#targets.get(slot.target);
    if (keys === undefined) this.#targets.set(slot.target, (keys = new Map()));
    const before = keys.get(asked(slot)) ?? [];
    const older = before.findIndex(({ received }) => received <= slot.received);
    // A new array, since a caller may still iterate over the old array.
    const variants = before.toSpliced(older === -1 ? before.length : older, 0, slot);
    keys.set(asked(slot), variants);
    this.#slots.set(slot.id, slot);
    this.recency.touch(slot);
    return variants[MOST_VARIANTS];
  }

  /** Removes an answer. Returns whether it was in the index. */
  drop(slot: S): boolean {
    if (this.#slots.get(slot.id) !== slot) return false;
    this.#slots.delete(slot.id);
    this.recency.remove(slot);
    const keys = this.#targets.get(slot.target);
    const others = keys?.get(asked(slot))?.filter((other) => other !== slot) ?? [];
    if (others.length > 0) keys?.set(asked(slot), others);
    else keys?.delete(asked(slot));
    if (keys?.size === 0) this.#targets.delete(slot.target);
    return true;
  }
}

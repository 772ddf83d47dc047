import type { CacheKey } from '../rules/stored.ts';
import { type Linked, Recency } from './recency.ts';

/** The data of each answer that a store has in memory. */
export interface Slot<S> extends CacheKey, Linked<S> {
  readonly id: string;
  readonly received: number;
}

/** Variants of one key that are kept: anybody who makes up values of what varies pushes out those alone. */
export const MOST_VARIANTS = 64;

const asked = ({ whose, content }: CacheKey) => `${content} ${whose}`;

/** Where answers are found, by key, target and id, and which of them nobody asked for lately. */
export class Shelf<S extends Slot<S>> {
  /** The variants by target, then by the rest of their key; the one received last comes first. */
  readonly #targets = new Map<string, Map<string, readonly S[]>>();
  readonly #slots = new Map<string, S>();
  /** The one first that nobody asked for for the longest time. */
  readonly recency = new Recency<S>();

  get size(): number {
    return this.#slots.size;
  }

  /** All of a key, which was asked for now. */
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

  /** Returns the one that has to go, if its key has too many now. */
  put(slot: S): S | undefined {
    let keys = this.#targets.get(slot.target);
    if (keys === undefined) this.#targets.set(slot.target, (keys = new Map()));
    const before = keys.get(asked(slot)) ?? [];
    const older = before.findIndex(({ received }) => received <= slot.received);
    // Another array: who was given that one may still go through it.
    const variants = before.toSpliced(older === -1 ? before.length : older, 0, slot);
    keys.set(asked(slot), variants);
    this.#slots.set(slot.id, slot);
    this.recency.touch(slot);
    return variants[MOST_VARIANTS];
  }

  /** Whether it was there. */
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

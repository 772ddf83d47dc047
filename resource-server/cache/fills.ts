import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Forgotten } from './rules/invalidating.ts';
import { isBelow } from './rules/is-below.ts';
import type { Fill } from './fill.ts';
import type { CacheKey } from './rules/stored.ts';

interface Open extends Placed {
  readonly key: CacheKey;
  /**
   * Undefined after the end: a deleted entry of a Map can stay in memory for long (bag.ts), and must not hold the fill.
   */
  fill: Fill | undefined;
}

/** The answers that one space currently requests from the application. */
export class Fills {
  readonly #open = new Bag<Open>();
  /** The answers that later requests may wait for, by name. */
  readonly #joined = new Map<string, Open>();

  /** Returns the answer that a request with this name may wait for. */
  get(name: string): Fill | undefined {
    const fill = this.#joined.get(name)?.fill;
    return fill?.open ? fill : undefined;
  }

  /** `name`: by which other requests find the answer, if they may. Returns a function that removes it. */
  add(key: CacheKey, fill: Fill, name: string | undefined): () => void {
    const open: Open = { key, fill, place: -1 };
    this.#open.add(open);
    if (name !== undefined) this.#joined.set(name, open);
    return () => {
      this.#open.delete(open);
      open.fill = undefined;
      if (name !== undefined && this.#joined.get(name) === open) this.#joined.delete(name);
    };
  }

  /**
   * Stops answers that `forgotten` names from being kept, and later clients from waiting for them. Undefined: all
   * answers.
   */
  doom(forgotten?: Forgotten): void {
    for (const open of this.#open.toArray()) {
      if (forgotten && !concerns(forgotten, open.key.target)) continue;
      open.fill?.doom();
      for (const [name, joined] of this.#joined) if (joined === open) this.#joined.delete(name);
    }
  }
}

/** A ban may match status or tags, which are unknown before the answer begins. So it concerns every pending answer. */
function concerns({ kind, value }: Forgotten, target: string): boolean {
  if (kind === 'ban') return true;
  return kind === 'tree' ? isBelow(target, value) : target === value;
}

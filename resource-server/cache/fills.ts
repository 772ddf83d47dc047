import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Forgotten } from './rules/invalidating.ts';
import { isBelow } from './rules/is-below.ts';
import type { Fill } from './fill.ts';
import type { CacheKey } from './rules/stored.ts';

interface Open extends Placed {
  readonly key: CacheKey;
  /** Undefined once it is over: a dead table of a map may keep this for long (bag.ts), but nothing that hangs on it. */
  fill: Fill | undefined;
}

/** The answers of one space for which the application is being asked. */
export class Fills {
  readonly #open = new Bag<Open>();
  /** Those that others may wait for. */
  readonly #joined = new Map<string, Open>();

  /** Returns the answer that a request with this name may wait for. */
  get(name: string): Fill | undefined {
    const fill = this.#joined.get(name)?.fill;
    return fill?.open ? fill : undefined;
  }

  /** `name`: by which others find it, if they may. Returns what removes it. */
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

  /** Keeps nothing that `forgotten` concerns, and later clients do not wait for it. Undefined: keeps nothing at all. */
  doom(forgotten?: Forgotten): void {
    for (const open of this.#open.toArray()) {
      if (forgotten && !concerns(forgotten, open.key.target)) continue;
      open.fill?.doom();
      for (const [name, joined] of this.#joined) if (joined === open) this.#joined.delete(name);
    }
  }
}

/** A ban is about what is known once an answer has begun: it concerns whatever is being asked for. */
function concerns({ kind, value }: Forgotten, target: string): boolean {
  if (kind === 'ban') return true;
  return kind === 'tree' ? isBelow(target, value) : target === value;
}

import type { Forgotten } from './rules/invalidating.ts';
import { isBelow } from './rules/is-below.ts';
import type { Fill } from './fill.ts';
import type { CacheKey } from './rules/stored.ts';

interface Open {
  readonly key: CacheKey;
  readonly fill: Fill;
}

/** The answers of one space for which the application is being asked. */
export class Fills {
  readonly #open = new Set<Open>();
  /** Those that others may wait for. */
  readonly #joined = new Map<string, Open>();

  /** Returns the answer that a request with this name may wait for. */
  get(name: string): Fill | undefined {
    const fill = this.#joined.get(name)?.fill;
    return fill?.open ? fill : undefined;
  }

  /** `name`: by which others find it, if they may. Returns what removes it. */
  add(key: CacheKey, fill: Fill, name: string | undefined): () => void {
    const open = { key, fill };
    this.#open.add(open);
    if (name !== undefined) this.#joined.set(name, open);
    return () => {
      this.#open.delete(open);
      if (name !== undefined && this.#joined.get(name) === open) this.#joined.delete(name);
    };
  }

  /** Keeps nothing that `forgotten` concerns, and later clients do not wait for it. Undefined: keeps nothing at all. */
  doom(forgotten?: Forgotten): void {
    for (const open of this.#open) {
      if (forgotten && !concerns(forgotten, open.key.target)) continue;
      open.fill.doom();
      for (const [name, joined] of this.#joined) if (joined === open) this.#joined.delete(name);
    }
  }
}

/** A ban is about what is known once an answer has begun: it concerns whatever is being asked for. */
function concerns({ kind, value }: Forgotten, target: string): boolean {
  if (kind === 'ban') return true;
  return kind === 'tree' ? isBelow(target, value) : target === value;
}

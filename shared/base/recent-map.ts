/**
 * A map that holds at most `capacity` entries and forgets entries that were not read recently. It has two
 * generations: when the younger is full, the older is dropped.
 */
export class RecentMap<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(capacity: number) {
    this.#half = Math.max(1, Math.floor(capacity / 2));
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.has(key)) {
      this.#young.set(key, value);
      return;
    }
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(ofItsOwn(key), value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}

/**
 * Returns the function with a cache of its results for up to `capacity` texts. It does not cache undefined, and no text
 * longer than `longest`. Use it for repeated calls whose result follows from the text alone.
 */
export function remembering<V>(
  of: (text: string) => V,
  { capacity, longest }: { readonly capacity: number; readonly longest: number },
): (text: string) => V {
  const known = new RecentMap<V>(capacity);
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (text.length > longest) return of(text);
    const own = ofItsOwn(text);
    const now = of(own);
    if (now !== undefined) known.set(own, now);
    return now;
  };
}

/**
 * Returns an equal text. V8 keeps a part of a text as a reference into the whole, which would then stay in memory.
 */
const ofItsOwn = (text: string) => ` ${text}`.slice(1);

/** Octets of an entry besides its key and its value. */
const ENTRY = 512;
/** The largest part of the memory for one entry, so that it does not displace all other entries. */
const LARGEST = 1 / 4;

interface Entry<V> {
  readonly value: V;
  readonly octets: number;
}

/** A map whose entries take at most `budget` octets: the least recently used entry is removed first. */
export class RecentOctets<V> {
  readonly #budget: number;
  /** The entries, in the order of their last use. */
  readonly #entries = new Map<string, Entry<V>>();
  #octets = 0;

  constructor(budget: number) {
    this.#budget = budget;
  }

  get octets(): number {
    return this.#octets;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value of `length` octets, unless it is too long. */
  set(key: string, value: V, length: number): void {
    this.#delete(key);
    const octets = ENTRY + 2 * key.length + length;
    if (octets > this.#budget * LARGEST) return;
    this.#entries.set(key, { value, octets });
    this.#octets += octets;
    for (const oldest of this.#entries.keys()) {
      if (this.#octets <= this.#budget) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#octets -= entry.octets;
  }
}

/** An object that can be in one bag at a time. */
export interface Placed {
  /** The object's index in its bag; -1 if it is in none. */
  place: number;
}

/**
 * An unordered collection of objects, which each request adds and removes. A Set that often loses entries makes new
 * tables, and in V8 each old table refers to the next. So a table that has grown old keeps all later tables until old
 * garbage is collected. An array refers only to its present members.
 */
export class Bag<E extends Placed> {
  readonly #all: E[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(entry: E): void {
    entry.place = this.#all.push(entry) - 1;
  }

  /** Removes an entry. Returns whether it was in this bag. */
  delete(entry: E): boolean {
    if (this.#all[entry.place] !== entry) return false;
    const last = this.#all.pop();
    if (last !== undefined && last !== entry) {
      last.place = entry.place;
      this.#all[last.place] = last;
    }
    entry.place = -1;
    return true;
  }

  /** Returns a copy, so that entries may be added and removed while a caller iterates over it. */
  toArray(): readonly E[] {
    return [...this.#all];
  }
}

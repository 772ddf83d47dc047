/** An object that can be in one bag at a time. */
export interface Placed {
  /** Its place in the bag; -1 in none. */
  place: number;
}

/**
 * Objects in no order, for those that come and go with each request. A Set that often loses entries makes new tables, and V8
 * has each old one name the next: one that has grown old keeps all that came after it until old garbage is
 * collected. An array names what is in it now, and nothing else.
 */
export class Bag<E extends Placed> {
  readonly #all: E[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(entry: E): void {
    entry.place = this.#all.push(entry) - 1;
  }

  /** Returns whether it was in here. */
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

  /** A copy: entries may come and go while somebody goes through it. */
  toArray(): readonly E[] {
    return [...this.#all];
  }
}

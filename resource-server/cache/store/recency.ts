/** An element in the order of use, with its two neighbours. */
export interface Linked<T> {
  older?: T | undefined;
  newer?: T | undefined;
}

/**
 * Elements in the order of their last use. A linked list, since a Map iterates over all entries that were removed
 * before its first.
 */
export class Recency<T extends Linked<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;

  /** Marks an element as just used, and adds a new element. */
  touch(one: T): void {
    if (this.#newest === one) return;
    this.remove(one);
    one.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = one;
    else this.#newest.newer = one;
    this.#newest = one;
  }

  /** Removes an element, if it is in the list. */
  remove(one: T): void {
    const { older, newer } = one;
    if (older !== undefined) older.newer = newer;
    else if (this.#oldest === one) this.#oldest = newer;
    if (newer !== undefined) newer.older = older;
    else if (this.#newest === one) this.#newest = older;
    one.older = undefined;
    one.newer = undefined;
  }

  /** Iterates from the longest unused element on. The caller may remove the current element. */
  *[Symbol.iterator](): Generator<T> {
    for (let one = this.#oldest; one !== undefined;) {
      const next: T | undefined = one.newer;
      yield one;
      one = next;
    }
  }
}

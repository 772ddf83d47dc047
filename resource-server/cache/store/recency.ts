/** An element in the order of use, between two others. */
export interface Linked<T> {
  older?: T | undefined;
  newer?: T | undefined;
}

/** In the order of their last use. A list, since a Map walks over all that were removed before its first. */
export class Recency<T extends Linked<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;

  /** It was used now, for the first time or again. */
  touch(one: T): void {
    if (this.#newest === one) return;
    this.remove(one);
    one.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = one;
    else this.#newest.newer = one;
    this.#newest = one;
  }

  /** Also of one that is not in it. */
  remove(one: T): void {
    const { older, newer } = one;
    if (older !== undefined) older.newer = newer;
    else if (this.#oldest === one) this.#oldest = newer;
    if (newer !== undefined) newer.older = older;
    else if (this.#newest === one) this.#newest = older;
    one.older = undefined;
    one.newer = undefined;
  }

  /** The one first that was not used for the longest time; what is given may be removed. */
  *[Symbol.iterator](): Generator<T> {
    for (let one = this.#oldest; one !== undefined;) {
      const next: T | undefined = one.newer;
      yield one;
      one = next;
    }
  }
}

/**
 * Where the feed of invalidations stands by what is written. It is never written ahead of what was removed because of it:
 * it waits for all removals that go on.
 */
export class FeedPosition {
  readonly #write: (position: string) => void;
  #going = 0;
  #waiting: string | undefined;

  /** `write` may throw: then it is written with the next. */
  constructor(write: (position: string) => void) {
    this.#write = write;
  }

  set(position: string): void {
    this.#waiting = position;
    this.#settle();
  }

  /** Where it fails, no position is written any more. */
  async removing<T>(work: () => Promise<T>): Promise<T> {
    this.#going += 1;
    const result = await work();
    this.#going -= 1;
    this.#settle();
    return result;
  }

  #settle(): void {
    if (this.#going > 0 || this.#waiting === undefined) return;
    try {
      this.#write(this.#waiting);
      this.#waiting = undefined;
    } catch {
      // The one before stands: more is forgotten than need be.
    }
  }
}

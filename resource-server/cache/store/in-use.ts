/** A resource that lasts until nobody uses it any more. */
export class InUse {
  readonly #ended: () => void;
  #users = 1;

  /** Begins with one user. `ended` is called when nobody uses it any more. */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  get byOne(): boolean {
    return this.#users === 1;
  }

  begin(): void {
    this.#users += 1;
  }

  end(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#ended();
  }
}

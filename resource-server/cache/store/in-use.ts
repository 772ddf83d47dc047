/** A resource that lasts until its last user has ended. */
export class InUse {
  readonly #ended: () => void;
  #users = 1;

  /** Begins with one user. `ended`: called after the last user. */
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

/** The octets of a store: of what is found in it, of what comes and of what is still read. */
export class Room {
  readonly #most: number;
  readonly #makeRoom: () => boolean;
  #used = 0;

  /** `makeRoom`: has something go; false: there is nothing whose going makes room. */
  constructor(most: number, makeRoom: () => boolean) {
    this.#most = most;
    this.#makeRoom = makeRoom;
  }

  get used(): number {
    return this.#used;
  }

  /** False: there is no such room. */
  take(octets: number): boolean {
    while (this.#used + octets > this.#most) if (!this.#makeRoom()) return false;
    this.#used += octets;
    return true;
  }

  give(octets: number): void {
    this.#used -= octets;
  }
}

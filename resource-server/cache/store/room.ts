/** The room of a store: for stored content, arriving content and removed content that is still read. */
export class Room {
  readonly #most: number;
  readonly #makeRoom: () => boolean;
  #used = 0;

  /** `makeRoom`: evicts an entry. False: no eviction would free room. */
  constructor(most: number, makeRoom: () => boolean) {
    this.#most = most;
    this.#makeRoom = makeRoom;
  }

  get used(): number {
    return this.#used;
  }

  /** Reserves octets. False: there is no room. */
  take(octets: number): boolean {
    while (this.#used + octets > this.#most) if (!this.#makeRoom()) return false;
    this.#used += octets;
    return true;
  }

  give(octets: number): void {
    this.#used -= octets;
  }
}

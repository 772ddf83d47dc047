/** An answer that a follower got or is about to get. */
export interface Told {
  /** The entry up to which the answer contains all revocations. */
  upTo: number;
  /**
   * The end of trust in milliseconds: a lease after the request arrived. The follower counts its lease from when it
   * sent the request.
   */
  readonly until: number;
  /** True while the answer has not been sent. */
  pending: boolean;
}

/** The most unacknowledged answers that a follower gets within a lease. */
const MOST = 16;

/** One follower, as one process knows it. */
export class Follower {
  readonly client: string;
  readonly id: string;
  #has = 0;
  #told: Told[] = [];

  constructor(client: string, id: string) {
    this.client = client;
    this.id = id;
  }

  get has(): number {
    return this.#has;
  }

  /**
   * The follower asked for the entries after `entry`, so it has all earlier ones. Returns whether another process told
   * it `entry`.
   */
  acknowledge(entry: number): boolean {
    const isNews = this.#has < entry;
    const isOurs = this.#told.some(({ upTo, pending }) => !pending && entry <= upTo);
    this.#has = Math.max(this.#has, entry);
    return isNews && !isOurs;
  }

  /** Begins an answer. Returns undefined if the follower has acknowledged too few of its answers. */
  begin(upTo: number, until: number, now: number): Told | undefined {
    this.#forget(now);
    if (this.#told.length >= MOST) return undefined;
    const told = { upTo, until, pending: true };
    this.#told.push(told);
    return told;
  }

  /** Drops an answer that was not given after all. */
  drop(told: Told): void {
    this.#told = this.#told.filter((other) => other !== told);
  }

  /**
   * Returns the entry up to which every trusted answer is complete, or undefined if the follower trusts no answer any
   * more.
   */
  confirmed(now: number): number | undefined {
    let least: number | undefined;
    for (const { upTo, until, pending } of this.#told) {
      if (!pending && until <= now) continue;
      least = Math.min(least ?? Infinity, Math.max(this.#has, upTo));
    }
    return least;
  }

  /** Drops expired answers, and merges those that contain no more than the follower already has. */
  #forget(now: number): void {
    const open = this.#told.filter(({ until, pending }) => pending || until > now);
    const isKept = ({ upTo, pending }: Told) => pending || this.#has < upTo;
    const until = Math.max(...open.filter((told) => !isKept(told)).map((told) => told.until));
    this.#told = open.filter(isKept);
    if (until > now) this.#told.push({ upTo: this.#has, until, pending: false });
  }
}

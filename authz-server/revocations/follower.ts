/** An answer that a follower got, or is about to get. */
export interface Told {
  /** The answer holds all revocations up to this entry. */
  upTo: number;
  /** Milliseconds: a lease after the request came. The follower counts its own from when it sent it. */
  readonly until: number;
  /** True while the answer has not been sent. */
  pending: boolean;
}

/** More answers than this within a lease, of which none is acknowledged, are not given. */
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

  /** It has asked for what is behind this entry: so it has all before. Returns whether another process told it that. */
  acknowledge(entry: number): boolean {
    const isNews = this.#has < entry;
    const isOurs = this.#told.some(({ upTo, pending }) => !pending && entry <= upTo);
    this.#has = Math.max(this.#has, entry);
    return isNews && !isOurs;
  }

  /** Undefined where it has been told too much that it says nothing of. */
  begin(upTo: number, until: number, now: number): Told | undefined {
    this.#forget(now);
    if (this.#told.length >= MOST) return undefined;
    const told = { upTo, until, pending: true };
    this.#told.push(told);
    return told;
  }

  /** Nothing was told after all. */
  drop(told: Told): void {
    this.#told = this.#told.filter((other) => other !== told);
  }

  /** All that it trusts holds whatever stands up to here; undefined: it trusts nothing any more. */
  confirmed(now: number): number | undefined {
    let least: number | undefined;
    for (const { upTo, until, pending } of this.#told) {
      if (!pending && until <= now) continue;
      least = Math.min(least ?? Infinity, Math.max(this.#has, upTo));
    }
    return least;
  }

  /** Drops what has run out, and makes one of what says no more than what it has. */
  #forget(now: number): void {
    const open = this.#told.filter(({ until, pending }) => pending || until > now);
    const isKept = ({ upTo, pending }: Told) => pending || this.#has < upTo;
    const until = Math.max(...open.filter((told) => !isKept(told)).map((told) => told.until));
    this.#told = open.filter(isKept);
    if (until > now) this.#told.push({ upTo: this.#has, until, pending: false });
  }
}

import { RecentMap } from '#shared/base/recent-map.ts';

/** Bytes that an entry takes besides its content. */
const ENTRY = 512;
/**
 * Bytes up to which content counts as short. Short content is kept on its first use, longer content on its second.
 */
export const SHORT = 64 * 1024;
/** The largest share of the memory that one content may take, so that it does not displace all others. */
const LARGEST = 1 / 4;

/** Resolves to undefined if there is no such content. */
type Load = () => Promise<Buffer | undefined>;

interface Kept {
  /** Bytes that it takes. */
  readonly octets: number;
  readonly content: Promise<Buffer | undefined>;
  /** The number of current readers. While there are any, the content stays in memory and is counted. */
  readers: number;
  /** When it was last asked for, as the number of that request. */
  asked: number;
}

/** Content that stays in memory until its reader releases it. */
export interface Held {
  readonly content: Promise<Buffer | undefined>;
  /** Must be called exactly once. */
  release(): void;
}

/**
 * Recently read content, by names that never mean other content. Everything, including content that is still being
 * loaded or sent, takes at most `budget` bytes. The least recently used content goes first: short content
 * displaces it at once. Longer content displaces only what nobody has asked for since the longer content was last
 * asked for, so that some of many long contents that are read in turn stay.
 */
export class ContentMemory {
  readonly #budget: number;
  /** The entries, least recently used first. */
  readonly #kept = new Map<string, Kept>();
  /**
   * When longer content that is not kept was last asked for, by name. Holds at least as many names as contents
   * fit.
   */
  readonly #asked: RecentMap<number>;
  #askings = 0;
  #octets = 0;
  /** The number of kept entries that have readers. */
  #inUse = 0;

  constructor(budget: number) {
    this.#budget = budget;
    this.#asked = new RecentMap(2 * Math.ceil(budget / SHORT));
  }

  /** Bytes in use, including those of entries that were dropped while they still had readers. */
  get octets(): number {
    return this.#octets;
  }

  /**
   * Returns the content of that name and length, loaded once for all concurrent callers. Returns undefined if it
   * is not kept in memory.
   */
  hold(name: string, length: number, load: Load): Held | undefined {
    this.#askings += 1;
    const kept = this.#kept.get(name) ?? this.#admit(name, length, load);
    if (kept === undefined) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    if (kept.readers === 0) this.#inUse += kept.octets;
    kept.readers += 1;
    kept.asked = this.#askings;
    return { content: kept.content, release: () => this.#release(name, kept) };
  }

  forget(name: string): void {
    const kept = this.#kept.get(name);
    if (kept === undefined) return;
    this.#kept.delete(name);
    if (kept.readers === 0) this.#octets -= kept.octets;
  }

  #release(name: string, kept: Kept): void {
    kept.readers -= 1;
    if (kept.readers > 0) return;
    this.#inUse -= kept.octets;
    if (this.#kept.get(name) !== kept) this.#octets -= kept.octets;
  }

  #admit(name: string, length: number, load: Load): Kept | undefined {
    const octets = length + ENTRY;
    if (octets > this.#budget * LARGEST) return undefined;
    const before = this.#askedBefore(name, length);
    if (before === undefined || this.#inUse + octets > this.#budget) return undefined;
    const leaving = this.#leaving(this.#octets + octets - this.#budget, before);
    if (leaving === undefined) return undefined;
    for (const other of leaving) this.forget(other);
    this.#octets += octets;
    const kept: Kept = { octets, content: load(), readers: 0, asked: this.#askings };
    const forget = () => {
      if (this.#kept.get(name) === kept) this.forget(name);
    };
    kept.content.then((content) => {
      if (content === undefined) forget();
    }, forget);
    return kept;
  }

  /**
   * The names of entries that free enough room and were last asked for no later than `before`. Undefined if they
   * do not suffice.
   */
  #leaving(room: number, before: number): readonly string[] | undefined {
    const names: string[] = [];
    let missing = room;
    for (const [name, { octets, readers, asked }] of this.#kept) {
      if (missing <= 0) break;
      if (asked > before) return undefined;
      if (readers > 0) continue;
      names.push(name);
      missing -= octets;
    }
    return names;
  }

  /** When the content was asked for before. Undefined if never or too long ago. Short content is wanted at once. */
  #askedBefore(name: string, length: number): number | undefined {
    if (length <= SHORT) return this.#askings;
    const before = this.#asked.get(name);
    this.#asked.set(name, this.#askings);
    return before;
  }
}

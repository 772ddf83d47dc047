import { RecentMap } from '#shared/base/recent-map.ts';

/** Bytes per entry in addition to its content. */
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
  /** Bytes of the content. */
  readonly octets: number;
  readonly content: Promise<Buffer | undefined>;
  /** The number of current readers. While an entry has readers, its content stays in memory and takes room. */
  readers: number;
  /** The number of the request that last asked for the entry. */
  asked: number;
}

/** Content that stays in memory until its reader releases it. */
export interface Held {
  readonly content: Promise<Buffer | undefined>;
  /** The holder calls this exactly once. */
  release(): void;
}

/**
 * Recently read content. A name never means other content.
 * All contents, including those being loaded or sent, take at most `budget` bytes. The least recently used content
 * leaves first. Short content displaces it at once. Longer content displaces only contents that were not requested
 * since its own previous request. So if many long contents are read one after another, some of them stay.
 */
export class ContentMemory {
  readonly #budget: number;
  /** The entries, least recently used first. */
  readonly #kept = new Map<string, Kept>();
  /**
   * The number of the last request for each longer content that is not kept. Holds at least as many names as contents
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
   * Returns the content of that name and length, loaded once for all concurrent callers. Returns undefined if memory
   * does not keep it.
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
   * The names of entries that free enough room and were last requested no later than `before`. Undefined: they do not
   * free enough.
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

  /**
   * The number of the previous request for the content. Undefined if there was none, or too long ago. Short content is
   * treated as just requested.
   */
  #askedBefore(name: string, length: number): number | undefined {
    if (length <= SHORT) return this.#askings;
    const before = this.#asked.get(name);
    this.#asked.set(name, this.#askings);
    return before;
  }
}

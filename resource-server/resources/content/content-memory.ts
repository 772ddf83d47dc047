import { RecentMap } from '#shared/base/recent-map.ts';

/** Octets that an entry costs besides its content. */
const ENTRY = 512;
/** Octets of short content, which is kept when it is asked for; what is longer when that is so again. */
export const SHORT = 64 * 1024;
/** The part of all that one content may take: the others are not to go for it. */
const LARGEST = 1 / 4;

/** Undefined: there is no such content. */
type Load = () => Promise<Buffer | undefined>;

interface Kept {
  /** What it costs. */
  readonly octets: number;
  readonly content: Promise<Buffer | undefined>;
  /** Those who read it now: it stays in memory for them, and is counted. */
  readers: number;
  /** When it was asked for last, by the number of askings. */
  asked: number;
}

/** Content in memory, for as long as whoever has it needs it. */
export interface Held {
  readonly content: Promise<Buffer | undefined>;
  /** To be called once. */
  release(): void;
}

/**
 * Content that was read lately, by names that never mean other content. All of it, what is being read into it
 * and what is still being sent included, takes no more than `budget` octets. What nobody has asked for
 * for the longest time goes first: at once for what is short, else only for what was asked for twice meanwhile.
 * So where long content is read in turn, and is more than there is room for, a part of it stays.
 */
export class ContentMemory {
  readonly #budget: number;
  /** Those asked for last come last. */
  readonly #kept = new Map<string, Kept>();
  /** Of longer content that is not kept, by name, when: of as many names, at least, as there is room for content. */
  readonly #asked: RecentMap<number>;
  #askings = 0;
  #octets = 0;
  /** Of these what has readers. */
  #inUse = 0;

  constructor(budget: number) {
    this.#budget = budget;
    this.#asked = new RecentMap(2 * Math.ceil(budget / SHORT));
  }

  /** That are in use, those of entries that have gone meanwhile included. */
  get octets(): number {
    return this.#octets;
  }

  /**
   * The content of that name and length, which is loaded once for all who ask for it meanwhile. Undefined: it
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

  /** Names of what makes so much room, and was asked for last no later than that; undefined: that is not enough. */
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

  /** When it was asked for before; undefined: never, or too long ago. What is short is wanted at once. */
  #askedBefore(name: string, length: number): number | undefined {
    if (length <= SHORT) return this.#askings;
    const before = this.#asked.get(name);
    this.#asked.set(name, this.#askings);
    return before;
  }
}

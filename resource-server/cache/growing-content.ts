import { andThen, recover } from '#shared/base/awaitable.ts';
import type { Pieces } from '../resources/pieces.ts';
import { pieceSize } from './piece-size.ts';
import type { Writing } from './store/cache-store.ts';

/** Octets that wait for the slowest reader of content that is kept no longer. */
const WINDOW = 256 * 1024;
/** Whoever holds others up has to read so many octets in so many milliseconds. */
const LEAST = 64 * 1024;
const PERIOD = 500;

interface Reader {
  /** Whose it is. */
  readonly from: string;
  position: number;
  /** Where it was at the last look. */
  before: number;
  broken: boolean;
}

interface Rest {
  from: number;
  pieces: Buffer[];
  octets: number;
}

/**
 * Content that several read while it comes, each at its own pace, from what is kept of it. When it turns out too long
 * to be kept, the rest goes to all of them at the pace of the slowest. One that stalls is broken off after half a second,
 * and any other of the same address that holds others up, at once.
 */
export class GrowingContent {
  readonly #writing: Writing;
  readonly #readers = new Set<Reader>();
  /** Until somebody reads, nothing is dropped: what came with the head is there before its readers. */
  #wasRead = false;
  #state: 'open' | 'whole' | 'broken' = 'open';
  /** What comes after that which is kept. */
  #rest: Rest | undefined;
  #appending: Promise<void> | undefined;
  #grown = Promise.withResolvers<void>();
  #resume: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Addresses of which a reader has stalled. */
  readonly #stalled = new Set<string>();

  constructor(writing: Writing) {
    this.#writing = writing;
  }

  /** Whether all that came is kept. */
  get kept(): boolean {
    return this.#rest === undefined;
  }

  /** Whether it can be read from its beginning, by who comes now. */
  get readable(): boolean {
    return this.#rest === undefined || this.#rest.from <= this.#writing.length;
  }

  /** False: wait for `drained` before the next. */
  write(piece: Buffer): boolean {
    const before = this.#appending;
    const appended = before ? before.then(() => this.#append(piece)) : this.#append(piece);
    if (appended === undefined) return this.#mayGrow();
    const appending = appended.then(() => {
      if (this.#appending !== appending) return; // another piece came meanwhile
      this.#appending = undefined;
      this.#goOn();
    });
    this.#appending = appending;
    return false;
  }

  /** Calls when more can be written. */
  drained(resume: () => void): void {
    this.#resume.push(resume);
  }

  /** Resolves when all of it can be read. */
  async end(): Promise<void> {
    await this.#appending;
    if (this.#state === 'open') this.#close('whole');
  }

  breakOff(): void {
    if (this.#state === 'open') this.#close('broken');
  }

  /** The octets from `first` up to `last`, for a client at that address; what broke off throws. */
  pieces(from: string, first = 0, last = Infinity): Pieces {
    const reader = { from, position: first, before: first, broken: false };
    this.#readers.add(reader);
    this.#wasRead = true;
    return {
      each: (most) => this.#each(reader, last + 1, most),
      [Symbol.asyncDispose]: async () => this.#left(reader),
    };
  }

  async *#each(reader: Reader, end: number, most: number): AsyncGenerator<Buffer> {
    using size = pieceSize();
    while (reader.position < end) {
      if (reader.broken || this.#state === 'broken') throw new Error('the answer broke off');
      // As they are now: what comes while it is read is not missed.
      const state = this.#state;
      const { promise: grown } = this.#grown;
      const piece = await this.#read(
        reader.position,
        Math.min(most, size.octets, end - reader.position),
      );
      if (piece.length > 0) {
        yield piece;
        reader.position += piece.length;
        this.#goOn();
      } else if (state === 'whole') return;
      else await grown;
    }
  }

  #read(position: number, most: number): Buffer | Promise<Buffer> {
    if (position < this.#writing.length) return this.#writing.read(position, most);
    const { from = position, pieces = [] } = this.#rest ?? {};
    if (position < from) throw new Error('what was to be read is gone');
    let start = from;
    for (const piece of pieces) {
      if (position < start + piece.length)
        return piece.subarray(position - start).subarray(0, most);
      start += piece.length;
    }
    return Buffer.alloc(0);
  }

  /** A promise where the store takes its time. */
  #append(piece: Buffer): Promise<void> | undefined {
    if (this.#rest) {
      this.#rest.pieces.push(piece);
      this.#rest.octets += piece.length;
      this.#wake();
      return undefined;
    }
    const { length: from } = this.#writing;
    const taken = recover(
      () => this.#writing.append(piece),
      () => false,
    );
    return andThen(taken, (isTaken) => {
      if (!isTaken) this.#rest = { from, pieces: [piece], octets: piece.length };
      this.#wake();
    }) as Promise<void> | undefined;
  }

  #mayGrow(): boolean {
    if (this.#rest === undefined) return true;
    if (this.#wasRead) this.#forget(this.#rest);
    return this.#rest.octets < WINDOW;
  }

  /** Drops what all have read. */
  #forget(rest: Rest): void {
    const slowest = Math.min(...[...this.#readers].map(({ position }) => position));
    for (
      let [first] = rest.pieces;
      first && rest.from + first.length <= slowest;
      [first] = rest.pieces
    ) {
      rest.pieces.shift();
      rest.from += first.length;
      rest.octets -= first.length;
    }
  }

  #goOn(): void {
    if (this.#appending || this.#resume.length === 0) return;
    if (!this.#mayGrow()) this.#breakOff(({ from }) => this.#stalled.has(from));
    if (this.#mayGrow()) {
      for (const resume of this.#resume.splice(0)) resume();
    } else if (this.#timer === undefined) {
      this.#mark();
      this.#timer = setInterval(() => this.#look(), PERIOD);
    }
  }

  #mark(): void {
    for (const reader of this.#readers) reader.before = reader.position;
  }

  #look(): void {
    this.#breakOff(({ position, before }) => position - before < LEAST);
    this.#mark();
    if (this.#mayGrow()) this.#stopLooking();
    this.#goOn();
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Those that hold others up, if they are such: one by itself takes the time that its connection has. */
  #breakOff(such: (reader: Reader) => boolean): void {
    const { from = 0, pieces: [first = ''] = [] } = this.#rest ?? {};
    const slow = [...this.#readers].filter(({ position }) => position < from + first.length);
    if (slow.length === this.#readers.size) return;
    for (const reader of slow.filter(such)) {
      reader.broken = true;
      this.#stalled.add(reader.from);
      this.#readers.delete(reader);
    }
    this.#wake();
  }

  #left(reader: Reader): void {
    this.#readers.delete(reader);
    this.#goOn();
  }

  #close(state: 'whole' | 'broken'): void {
    this.#state = state;
    this.#stopLooking();
    this.#wake();
  }

  #wake(): void {
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
  }
}

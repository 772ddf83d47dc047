import { andThen, recover } from '#shared/base/awaitable.ts';
import type { Pieces } from '../answers/pieces.ts';
import { BROKEN_OFF } from '../forwarding/sink.ts';
import { pieceSize } from './piece-size.ts';
import type { Writing } from './store/cache-store.ts';

/** Octets that wait for the slowest reader of content that is kept no longer. */
const WINDOW = 256 * 1024;

interface Reader {
  position: number;
}

interface Rest {
  from: number;
  pieces: Buffer[];
  octets: number;
}

interface Options {
  readonly writing: Writing;
  /** The length is known, so the store has taken room for all of it. */
  readonly sized: boolean;
  /** Called when it can be kept no longer. */
  readonly outgrown?: (() => void) | undefined;
}

/**
 * Content that several read while it comes, each at its own pace, from what is kept of it. When it can be kept no
 * longer, the rest goes to its readers at the pace of the slowest. Readers who wait for `safe` are not among them,
 * unless a disk fails in the middle.
 */
export class GrowingContent {
  /**
   * Whether another reader gets all of it at its own pace. True once all of it is kept, or the beginning of what the
   * store has room for. False when it can be kept no longer, or breaks off.
   */
  readonly safe: Promise<boolean>;
  readonly #safe = Promise.withResolvers<boolean>();
  readonly #options: Options;
  readonly #writing: Writing;
  readonly #readers = new Set<Reader>();
  /** Until somebody reads, nothing is dropped: what came with the head is there before its readers. */
  #wasRead = false;
  #state: 'open' | 'whole' | 'broken' = 'open';
  /** The content after the kept part. */
  #rest: Rest | undefined;
  #appending: Promise<void> | undefined;
  #grown = Promise.withResolvers<void>();
  #resume: (() => void)[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#writing = options.writing;
    this.safe = this.#safe.promise;
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

  /** The octets from `first` up to `last`; what broke off throws. */
  pieces(first = 0, last = Infinity): Pieces {
    const reader = { position: first };
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
      if (this.#state === 'broken') throw new Error(BROKEN_OFF);
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
      if (isTaken) {
        if (this.#options.sized) this.#safe.resolve(true);
      } else {
        this.#rest = { from, pieces: [piece], octets: piece.length };
        this.#safe.resolve(false);
        this.#options.outgrown?.();
      }
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
    if (this.#appending || !this.#mayGrow()) return;
    for (const resume of this.#resume.splice(0)) resume();
  }

  #left(reader: Reader): void {
    this.#readers.delete(reader);
    this.#goOn();
  }

  #close(state: 'whole' | 'broken'): void {
    this.#state = state;
    this.#safe.resolve(state === 'whole' && this.kept);
    this.#wake();
  }

  #wake(): void {
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
  }
}

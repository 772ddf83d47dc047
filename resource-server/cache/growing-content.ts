import { andThen, recover } from '#shared/base/awaitable.ts';
import type { Pieces } from '../answers/pieces.ts';
import { BROKEN_OFF } from '../forwarding/sink.ts';
import { pieceSize } from './piece-size.ts';
import type { Writing } from './store/cache-store.ts';

/** Octets that wait for the slowest reader after the store stopped taking content. */
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
  /** Whether the length is known, so that the store has reserved room for all content. */
  readonly sized: boolean;
  /** Called when the store stops taking content. */
  readonly outgrown?: (() => void) | undefined;
}

/**
 * Content that several readers read while it arrives, each at its own pace, from what the store keeps. After the store
 * stops taking content, the rest arrives at the pace of the slowest reader. Readers that wait for `safe` never slow it,
 * unless a disk fails during the answer.
 */
export class GrowingContent {
  /**
   * Whether another reader gets all content at its own pace. True once all content is stored, or its first piece if the
   * store reserved room for all. False if the store stops taking content, or the content breaks off.
   */
  readonly safe: Promise<boolean>;
  readonly #safe = Promise.withResolvers<boolean>();
  readonly #options: Options;
  readonly #writing: Writing;
  readonly #readers = new Set<Reader>();
  /** Until the first reader starts, nothing is dropped: content may arrive with the head, before its readers. */
  #wasRead = false;
  #state: 'open' | 'whole' | 'broken' = 'open';
  /** The content after the stored part. */
  #rest: Rest | undefined;
  #appending: Promise<void> | undefined;
  #grown = Promise.withResolvers<void>();
  #resume: (() => void)[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#writing = options.writing;
    this.safe = this.#safe.promise;
  }

  /** Whether all content so far is stored. */
  get kept(): boolean {
    return this.#rest === undefined;
  }

  /** Whether a new reader can read the content from its beginning. */
  get readable(): boolean {
    return this.#rest === undefined || this.#rest.from <= this.#writing.length;
  }

  /** False: the writer waits for `drained` before the next piece. */
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

  /** Calls back when more can be written. */
  drained(resume: () => void): void {
    this.#resume.push(resume);
  }

  /** Resolves when all content can be read. */
  async end(): Promise<void> {
    await this.#appending;
    if (this.#state === 'open') this.#close('whole');
  }

  breakOff(): void {
    if (this.#state === 'open') this.#close('broken');
  }

  /** The octets from `first` up to `last`. Throws if the content breaks off. */
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
      // State and promise are read before the content, so that a piece that arrives during the read is not missed.
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

  /** Returns a promise if the store works asynchronously. */
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

  /** Drops the pieces that all readers have read. */
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

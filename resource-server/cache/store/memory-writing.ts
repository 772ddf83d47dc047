import type { Stored } from '../rules/stored.ts';
import type { Writing } from './cache-store.ts';
import { InUse } from './in-use.ts';
import type { Room } from './room.ts';

/** Octets that are reserved first for an answer of unknown length. */
const FIRST = 16 * 1024;

/** Content that has arrived completely. */
export interface Whole {
  readonly content: Buffer;
  readonly use: InUse;
  readonly replaces: readonly string[];
}

interface Options {
  /** Octets of content, if the length is known. */
  readonly expected: number | undefined;
  /** The most octets of the content. */
  readonly most: number;
  readonly room: Room;
  /** Called once at the end. `whole`: the content to store; absent if nothing is stored. */
  readonly end: (whole?: Whole) => Stored | undefined;
}

/** Content that is copied into memory while it arrives, since the sender may reuse its buffers. */
export class MemoryWriting implements Writing {
  readonly #options: Options;
  #buffer: Buffer;
  #use: InUse | undefined;
  #ended = false;
  #closed = false;
  length = 0;

  /** Undefined: there is no room. */
  static begin(options: Options): MemoryWriting | undefined {
    const { expected, most, room } = options;
    const first = expected ?? Math.min(FIRST, most);
    if (first > most || most < 0 || !room.take(first)) return undefined;
    return new MemoryWriting(options, Buffer.allocUnsafeSlow(first));
  }

  private constructor(options: Options, buffer: Buffer) {
    this.#options = options;
    this.#buffer = buffer;
  }

  append(piece: Buffer): boolean {
    if (this.#ended) return false;
    if (!this.#fits(this.length + piece.length)) {
      this.abandon();
      return false;
    }
    piece.copy(this.#buffer, this.length);
    this.length += piece.length;
    return true;
  }

  commit(replaces: readonly string[]): Stored | undefined {
    const { expected, room, end } = this.#options;
    if (this.#ended) return undefined;
    this.#ended = true;
    // An incomplete answer is never stored (RFC 9111 section 3.3).
    if (expected !== undefined && expected !== this.length) return end();
    this.#trim();
    const { length } = this;
    this.#use = new InUse(() => room.give(length));
    return end({ content: this.#buffer, use: this.#use, replaces });
  }

  abandon(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.end();
  }

  read(position: number, most: number): Buffer {
    return this.#buffer.subarray(position, Math.min(this.length, position + most));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.abandon();
    if (this.#use === undefined) this.#options.room.give(this.#buffer.length);
    else this.#use.end();
  }

  #fits(length: number): boolean {
    const { expected, most, room } = this.#options;
    const { length: before } = this.#buffer;
    if (length <= before) return true;
    if (expected !== undefined || length > most) return false;
    const octets = Math.min(Math.max(2 * before, length), most);
    if (!room.take(octets - before)) return false;
    this.#become(octets);
    return true;
  }

  #trim(): void {
    if (this.#buffer.length === this.length) return;
    this.#options.room.give(this.#buffer.length - this.length);
    this.#become(this.length);
  }

  /** Moves the content to a buffer of that size. Octets that were already read stay unchanged in the old buffer. */
  #become(octets: number): void {
    const buffer = Buffer.allocUnsafeSlow(octets);
    this.#buffer.copy(buffer, 0, 0, this.length);
    this.#buffer = buffer;
  }
}

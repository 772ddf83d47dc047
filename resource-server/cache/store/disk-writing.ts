import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Stored } from '../rules/stored.ts';
import type { Writing } from './cache-store.ts';
import { readSome } from './disk-content.ts';
import { InUse } from './in-use.ts';
import type { Room } from './room.ts';

/** Content that has arrived completely. */
export interface WholeFile {
  readonly length: number;
  readonly crc: number;
  readonly use: InUse;
  readonly replaces: readonly string[];
}

interface Options {
  readonly create: () => Promise<FileHandle>;
  /** Octets of content, if the length is known. */
  readonly expected: number | undefined;
  /** The most octets of the content. */
  readonly most: number;
  readonly room: Room;
  /** Called once at the end. `whole`: the content to store; absent if nothing is stored. */
  readonly end: (whole?: WholeFile) => Stored | undefined;
  /** Removes the file of an answer that is not stored. */
  readonly discard: () => void;
}

/** Content that is written to a file while it arrives. */
export class DiskWriting implements Writing {
  readonly #options: Options;
  /** Octets that were reserved. */
  #taken: number;
  #file: FileHandle | undefined;
  #crc = 0;
  #use: InUse | undefined;
  #ended = false;
  #closed = false;
  length = 0;

  /** Undefined: there is no room. */
  static begin(options: Options): DiskWriting | undefined {
    const { expected = 0, most, room } = options;
    if (expected > most || !room.take(expected)) return undefined;
    return new DiskWriting(options, expected);
  }

  private constructor(options: Options, taken: number) {
    this.#options = options;
    this.#taken = taken;
  }

  async append(piece: Buffer): Promise<boolean> {
    if (this.#ended) return false;
    try {
      if (this.#fits(this.length + piece.length)) {
        await this.#write(piece);
        return !this.#ended;
      }
    } catch {
      // The disk is full or broken.
    }
    this.abandon();
    return false;
  }

  commit(replaces: readonly string[]): Stored | undefined {
    const { expected, room, end, discard } = this.#options;
    if (this.#ended) return undefined;
    // An incomplete answer is never stored (RFC 9111 section 3.3).
    if (expected !== undefined && expected !== this.length) {
      this.abandon();
      return undefined;
    }
    this.#ended = true;
    const { length } = this;
    this.#use = new InUse(() => room.give(length));
    const kept = end({ length, crc: this.#crc, use: this.#use, replaces });
    if (kept === undefined) discard();
    return kept;
  }

  abandon(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.end();
    this.#options.discard();
  }

  async read(position: number, most: number): Promise<Buffer> {
    const octets = Math.min(most, this.length - position);
    if (octets <= 0 || this.#file === undefined) return Buffer.alloc(0);
    return readSome(this.#file, position, octets);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.abandon();
    if (this.#use === undefined) this.#options.room.give(this.#taken);
    else this.#use.end();
    this.#file?.close().catch(() => {});
  }

  #fits(length: number): boolean {
    const { expected, most, room } = this.#options;
    if (length <= this.#taken) return true;
    if (expected !== undefined || length > most || !room.take(length - this.#taken)) return false;
    this.#taken = length;
    return true;
  }

  async #write(piece: Buffer): Promise<void> {
    const file = this.#file ?? (await this.#create());
    for (let at = 0; at < piece.length;) {
      const { bytesWritten } = await file.write(piece, at, piece.length - at, this.length + at);
      at += bytesWritten;
    }
    this.#crc = crc32(piece, this.#crc);
    this.length += piece.length;
  }

  async #create(): Promise<FileHandle> {
    const { create, discard } = this.#options;
    const file = await create();
    if (!this.#ended) return (this.#file = file);
    await file.close();
    discard();
    throw new Error('it ended meanwhile');
  }
}

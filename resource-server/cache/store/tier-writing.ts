import type { Stored } from '../rules/stored.ts';
import type { CacheStore, Writing } from './cache-store.ts';
import type { Arrival } from './coming.ts';

interface Options {
  readonly memory: CacheStore;
  readonly disk: CacheStore;
  /** The most octets of content that stay in memory. */
  readonly longest: number;
  readonly stored: Stored;
  readonly arrival: Arrival;
  readonly end: () => void;
}

/** Content of unknown length that begins in memory, and moves to disk when it gets long. */
export class TierWriting implements Writing {
  readonly #options: Options;
  #writing: Writing;
  #inMemory = true;
  #closed = false;

  constructor(options: Options, inMemory: Writing) {
    this.#options = options;
    this.#writing = inMemory;
  }

  get length(): number {
    return this.#writing.length;
  }

  async append(piece: Buffer): Promise<boolean> {
    const { longest } = this.#options;
    if (!this.#inMemory) return this.#writing.append(piece);
    const short = this.length + piece.length <= longest;
    if (short && (await this.#writing.append(piece))) return true;
    if (await this.#move()) return this.#writing.append(piece);
    this.#writing.abandon();
    return false;
  }

  async commit(replaces: readonly string[]): Promise<Stored | undefined> {
    const { memory, disk, arrival, end } = this.#options;
    // A removal named this answer before it reached the disk, which does not know of the removal. So it is not stored.
    if (arrival.stored === undefined) this.abandon();
    const kept = await this.#writing.commit(replaces);
    end();
    if (kept === undefined) return undefined;
    const other = this.#inMemory ? disk : memory;
    for (const id of replaces) await other.remove({ id, target: kept.target });
    return kept;
  }

  abandon(): void {
    this.#writing.abandon();
    this.#options.end();
  }

  read(position: number, most: number) {
    return this.#writing.read(position, most);
  }

  close(): void {
    this.#closed = true;
    this.#writing.close();
    this.#options.end();
  }

  /** Moves the content to disk. Returns whether all of it is there. */
  async #move(): Promise<boolean> {
    const { disk, stored, arrival } = this.#options;
    const writing = disk.begin(arrival.stored ?? stored);
    if (writing === undefined) return false;
    const before = await this.#writing.read(0, this.length);
    if (!(await writing.append(before)) || this.#closed) {
      writing.close();
      return false;
    }
    this.#writing.close();
    this.#writing = writing;
    this.#inMemory = false;
    return true;
  }
}

import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { CacheKey, Stored } from '../rules/stored.ts';
import type { CacheStore, Content, Writing } from './cache-store.ts';
import { Coming } from './coming.ts';
import { TierWriting } from './tier-writing.ts';

/**
 * Keeps answers with at most `longest` octets of content in memory, and longer ones on disk. Answers known to be short
 * skip the disk.
 */
export class TieredStore implements CacheStore {
  readonly #memory: CacheStore;
  readonly #disk: CacheStore;
  readonly #longest: number;
  /** Content that is removed while it is in memory must not move to the disk. */
  readonly #coming = new Coming();

  constructor(memory: CacheStore, disk: CacheStore, longest: number) {
    this.#memory = memory;
    this.#disk = disk;
    this.#longest = longest;
  }

  find(key: CacheKey): Awaitable<readonly Stored[]> {
    return andThen(this.#memory.find(key), (inMemory) =>
      andThen(this.#disk.find(key), (onDisk) => {
        if (onDisk.length === 0) return inMemory;
        return [...inMemory, ...onDisk].toSorted((a, b) => b.received - a.received);
      }),
    );
  }

  begin(stored: Stored): Writing | undefined {
    const [memory, disk, longest] = [this.#memory, this.#disk, this.#longest];
    if ((stored.length ?? 0) > longest) return disk.begin(stored);
    const writing = memory.begin(stored);
    if (writing === undefined) return disk.begin(stored);
    const arrival = this.#coming.begin(stored);
    const end = () => this.#coming.end(arrival);
    return new TierWriting({ memory, disk, longest, stored, arrival, end }, writing);
  }

  replace(stored: Stored): Awaitable<void> {
    return this.#inBoth((store) => store.replace(stored));
  }

  remove(stored: Pick<Stored, 'id' | 'target'>): Awaitable<void> {
    return this.#inBoth((store) => store.remove(stored));
  }

  removeTarget(target: string, soft: boolean): Awaitable<number> {
    this.#coming.remove((stored) => stored.target === target, soft);
    return andThen(this.#memory.removeTarget(target, soft), (inMemory) =>
      andThen(this.#disk.removeTarget(target, soft), (onDisk) => inMemory + onDisk),
    );
  }

  async removeWhere(matches: (stored: Stored) => boolean, soft: boolean): Promise<number> {
    this.#coming.remove(matches, soft);
    const removing = [this.#memory, this.#disk].map((store) => store.removeWhere(matches, soft));
    const [inMemory = 0, onDisk = 0] = await Promise.all(removing);
    return inMemory + onDisk;
  }

  content(stored: Stored): Awaitable<Content | undefined> {
    return andThen(
      this.#memory.content(stored),
      (inMemory) => inMemory ?? this.#disk.content(stored),
    );
  }

  clear(): Awaitable<void> {
    this.#coming.remove(() => true, false);
    return this.#inBoth((store) => store.clear());
  }

  stats() {
    const [inMemory, onDisk] = [this.#memory.stats(), this.#disk.stats()];
    return {
      entries: inMemory.entries + onDisk.entries,
      octets: inMemory.octets + onDisk.octets,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#memory[Symbol.asyncDispose]();
    await this.#disk[Symbol.asyncDispose]();
  }

  #inBoth(work: (store: CacheStore) => Awaitable<void>): Awaitable<void> {
    return andThen(work(this.#memory), () => work(this.#disk));
  }
}

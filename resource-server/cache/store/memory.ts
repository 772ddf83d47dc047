import type { CacheKey, Stored } from '../rules/stored.ts';
import type { CacheStore, Content, Writing } from './cache-store.ts';
import { Coming } from './coming.ts';
import { inSlices } from './in-slices.ts';
import { MemoryWriting, type Whole } from './memory-writing.ts';
import { describing, LARGEST } from './octets.ts';
import type { InUse } from './in-use.ts';
import { Room } from './room.ts';
import { Shelf, type Slot } from './shelf.ts';

interface Entry extends Slot<Entry> {
  readonly stored: Stored;
  readonly body: Buffer;
  readonly use: InUse;
  /** Octets of the description. */
  readonly describing: number;
}

/**
 * Answers in memory. Stored answers, arriving answers and removed answers that are still read take `maxBytes` octets
 * together, a single answer at most a quarter. The answers that were unused for the longest time are evicted first.
 */
export class MemoryStore implements CacheStore {
  readonly #shelf = new Shelf<Entry>();
  readonly #coming = new Coming();
  readonly #room: Room;
  readonly #most: number;

  constructor(maxBytes: number) {
    this.#most = Math.floor(maxBytes * LARGEST);
    this.#room = new Room(maxBytes, () => this.#evict());
  }

  find(key: CacheKey): readonly Stored[] {
    return this.#shelf.find(key).map(({ stored }) => stored);
  }

  begin(stored: Stored): Writing | undefined {
    const own = describing(stored);
    if (own > this.#most || !this.#room.take(own)) return undefined;
    const arrival = this.#coming.begin(stored);
    const end = (whole?: Whole) => {
      this.#coming.end(arrival);
      if (whole && arrival.stored) return this.#keep(arrival.stored, own, whole);
      this.#room.give(own);
      return undefined;
    };
    const options = { expected: stored.length, most: this.#most - own, room: this.#room, end };
    const writing = MemoryWriting.begin(options);
    if (writing === undefined) end();
    return writing;
  }

  replace(stored: Stored): void {
    const entry = this.#shelf.get(stored.id);
    if (entry === undefined) return;
    const own = describing(stored);
    this.#shelf.recency.touch(entry);
    if (!this.#room.take(own)) return;
    if (this.#shelf.drop(entry)) {
      this.#room.give(entry.describing);
      this.#put({ ...stored, length: entry.body.length }, own, entry);
    } else this.#room.give(own); // making room evicted the entry itself
  }

  remove({ id }: Pick<Stored, 'id'>): void {
    const entry = this.#shelf.get(id);
    if (entry !== undefined) this.#drop(entry);
  }

  removeTarget(target: string, soft: boolean): number {
    this.#coming.remove((stored) => stored.target === target, soft);
    const entries = this.#shelf.ofTarget(target);
    for (const entry of entries) this.#forget(entry, soft);
    return entries.length;
  }

  async removeWhere(matches: (stored: Stored) => boolean, soft: boolean): Promise<number> {
    this.#coming.remove(matches, soft);
    const ids = this.#shelf.all().map(({ id }) => id);
    let removed = 0;
    await inSlices(ids, (some) => {
      for (const id of some) {
        const entry = this.#shelf.get(id);
        if (entry === undefined || !matches(entry.stored)) continue;
        this.#forget(entry, soft);
        removed += 1;
      }
    });
    return removed;
  }

  content({ id }: Stored): Content | undefined {
    const entry = this.#shelf.get(id);
    return entry && new MemoryContent(entry.body, entry.use);
  }

  clear(): void {
    this.#coming.remove(() => true, false);
    for (const entry of this.#shelf.all()) this.#drop(entry);
  }

  stats() {
    return { entries: this.#shelf.size, octets: this.#room.used };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.clear();
  }

  #keep(stored: Stored, own: number, { content, use, replaces }: Whole): Stored {
    for (const id of replaces) this.remove({ id });
    use.begin();
    const kept = { ...stored, length: content.length };
    this.#put(kept, own, { body: content, use });
    return kept;
  }

  #put(stored: Stored, own: number, { body, use }: Pick<Entry, 'body' | 'use'>): void {
    const { id, target, whose, content, received } = stored;
    const entry = { id, target, whose, content, received, stored, body, use, describing: own };
    const oneTooMany = this.#shelf.put(entry);
    if (oneTooMany !== undefined) this.#drop(oneTooMany);
  }

  #forget(entry: Entry, soft: boolean): void {
    if (!soft) this.#drop(entry);
    else if (this.#shelf.drop(entry)) {
      this.#put({ ...entry.stored, outdated: true }, entry.describing, entry);
    }
  }

  #drop(entry: Entry): void {
    if (!this.#shelf.drop(entry)) return;
    this.#room.give(entry.describing);
    entry.use.end();
  }

  #evict(): boolean {
    for (const entry of this.#shelf.recency) {
      if (!entry.use.byOne) continue;
      this.#drop(entry);
      return true;
    }
    return false;
  }
}

/** Content in memory, which takes room until it is closed. */
class MemoryContent implements Content {
  readonly whole: Buffer;
  readonly #use: InUse;
  #closed = false;

  constructor(whole: Buffer, use: InUse) {
    this.whole = whole;
    this.#use = use;
    use.begin();
  }

  read(position: number, most: number): Buffer {
    return this.whole.subarray(position, position + most);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#use.end();
  }
}

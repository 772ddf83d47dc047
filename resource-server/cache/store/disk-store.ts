import { RecentMap } from '#shared/base/recent-map.ts';
import type { CacheKey, Stored } from '../rules/stored.ts';
import type { CacheStore, Content, Writing } from './cache-store.ts';
import { Coming } from './coming.ts';
import { contentIn, inMemory, isWhole } from './disk-content.ts';
import type { DiskFiles } from './disk-files.ts';
import type { DiskRows, Row } from './disk-rows.ts';
import { DiskWriting, type WholeFile } from './disk-writing.ts';
import { inSlices } from './in-slices.ts';
import { describing, LARGEST } from './octets.ts';
import { InUse } from './in-use.ts';
import { Room } from './room.ts';
import { Shelf, type Slot } from './shelf.ts';

/** The most answers whose description stays in memory. */
const RECENT = 2048;

interface Entry extends Row, Slot<Entry> {
  readonly use: InUse;
  /** Whether this process wrote the content, or verified it against the row's checksum. */
  checked: boolean;
}

interface Options {
  readonly space: string;
  readonly maxBytes: number;
  readonly mostEntries: number;
  readonly rows: DiskRows;
  readonly files: DiskFiles;
  /** Runs a removal. No position of the feed is written before it ends. */
  readonly removing: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Answers on disk: rows with descriptions, and files with contents, which never change.
 * The index is in memory. So a removed answer is not found even if the full disk cannot record the removal.
 */
export class DiskStore implements CacheStore {
  readonly #options: Options;
  readonly #shelf = new Shelf<Entry>();
  readonly #coming = new Coming();
  readonly #recent = new RecentMap<Stored>(RECENT);
  readonly #room: Room;
  readonly #most: number;

  constructor(options: Options) {
    const { space, maxBytes, mostEntries, rows } = options;
    this.#options = options;
    this.#most = Math.floor(maxBytes * LARGEST);
    this.#room = new Room(maxBytes, () => this.#evict());
    const kept = rows.of(space);
    let octets = kept.reduce((sum, row) => sum + row.octets, 0);
    let first = 0;
    for (; octets > maxBytes || kept.length - first > mostEntries; first += 1) {
      octets -= kept[first]?.octets ?? 0;
    }
    this.#erase(kept.slice(0, first));
    for (const row of kept.slice(first)) {
      this.#room.take(row.octets);
      const use = new InUse(() => this.#room.give(row.length));
      this.#shelf.put({ ...row, use, checked: false });
    }
  }

  find(key: CacheKey): readonly Stored[] {
    return this.#shelf.find(key).flatMap((entry) => {
      const known = this.#recent.get(entry.id);
      if (known !== undefined) return known;
      const stored = this.#read(entry);
      if (stored === undefined) return [];
      this.#recent.set(entry.id, stored);
      return stored;
    });
  }

  begin(stored: Stored): Writing | undefined {
    const own = describing(stored);
    if (own > this.#most || !this.#room.take(own)) return undefined;
    const { rows, files } = this.#options;
    const arrival = this.#coming.begin(stored);
    const seq = rows.nextSeq();
    const end = (whole?: WholeFile) => {
      this.#coming.end(arrival);
      const kept = whole && arrival.stored && this.#keep(arrival.stored, seq, own, whole);
      if (kept === undefined) this.#room.give(own);
      return kept;
    };
    const writing = DiskWriting.begin({
      expected: stored.length,
      most: this.#most - own,
      room: this.#room,
      create: () => files.create(seq),
      discard: () => files.remove(seq),
      end,
    });
    if (writing === undefined) end();
    return writing;
  }

  replace(stored: Stored): void {
    const entry = this.#shelf.get(stored.id);
    if (entry === undefined) return;
    const own = describing(stored);
    this.#shelf.recency.touch(entry);
    if (!this.#room.take(own)) return;
    // Making room may have evicted this entry.
    const there = this.#shelf.get(stored.id) === entry;
    const changed = there && this.#change(entry, { ...stored, length: entry.length }, own);
    this.#room.give(changed ? entry.octets - entry.length : own);
  }

  remove({ id }: Pick<Stored, 'id'>): void {
    this.#drop(this.#ofIds([id]));
  }

  removeTarget(target: string, soft: boolean): number {
    this.#coming.remove((stored) => stored.target === target, soft);
    const entries = this.#shelf.ofTarget(target);
    this.#forget(entries, soft);
    return entries.length;
  }

  removeWhere(matches: (stored: Stored) => boolean, soft: boolean): Promise<number> {
    return this.#options.removing(async () => {
      this.#coming.remove(matches, soft);
      const ids = this.#shelf.all().map(({ id }) => id);
      let removed = 0;
      await inSlices(ids, (some) => {
        const found = this.#ofIds(some).filter((entry) => {
          const stored = this.#read(entry);
          return stored !== undefined && matches(stored);
        });
        this.#forget(found, soft);
        removed += found.length;
      });
      return removed;
    });
  }

  async content({ id }: Stored): Promise<Content | undefined> {
    const entry = this.#shelf.get(id);
    if (entry === undefined) return undefined;
    const { seq, length, use } = entry;
    const { rows, files } = this.#options;
    use.begin();
    try {
      if (length === 0) return inMemory(Buffer.alloc(0), () => use.end());
      const reading = await files.read(seq);
      // After a power cut a row may exist without its complete file.
      entry.checked ||= await isWhole(reading, length, rows.crc(seq));
      if (entry.checked) return await contentIn(reading, length, () => use.end());
      reading.end();
      this.#drop([entry]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMFILE') this.#drop([entry]);
    }
    use.end();
    return undefined;
  }

  clear(): void {
    this.#coming.remove(() => true, false);
    this.#drop(this.#shelf.all());
  }

  stats() {
    return { entries: this.#shelf.size, octets: this.#room.used };
  }

  /** Does nothing, since the disk owns and closes its files. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Undefined: the disk has no room. */
  #keep(arrived: Stored, seq: number, own: number, whole: WholeFile): Stored | undefined {
    const { space, rows } = this.#options;
    const { length, crc, use } = whole;
    const stored = { ...arrived, length };
    const { id, target, whose, content, received } = stored;
    const row = { seq, id, target, whose, content, received, length, octets: own + length };
    const replaced = this.#ofIds(whole.replaces);
    try {
      rows.add(space, row, { stored, crc, replaced: replaced.map((entry) => entry.seq) });
    } catch {
      return undefined;
    }
    this.#drop(replaced);
    use.begin();
    this.#put({ ...row, use, checked: true }, stored);
    while (this.#shelf.size > this.#options.mostEntries && this.#evict());
    return stored;
  }

  #put(entry: Entry, stored: Stored): void {
    this.#recent.set(entry.id, stored);
    const oneTooMany = this.#shelf.put(entry);
    if (oneTooMany !== undefined) this.#drop([oneTooMany]);
  }

  /** Returns whether the row was changed. If not, the entry is unchanged, too. */
  #change(entry: Entry, stored: Stored, own: number): boolean {
    const changes = { received: stored.received, octets: own + entry.length };
    try {
      this.#options.rows.change({ ...entry, ...changes }, stored);
    } catch {
      return false;
    }
    this.#shelf.drop(entry);
    this.#put({ ...entry, ...changes }, stored);
    return true;
  }

  /** Returns the description of an answer. Undefined: the answer was removed. */
  #read(entry: Entry): Stored | undefined {
    const known = this.#recent.get(entry.id);
    if (known !== undefined) return known;
    try {
      const stored = this.#options.rows.stored(entry.seq);
      if (stored !== undefined) return stored;
    } catch {
      // An answer whose row cannot be read is removed.
    }
    this.#drop([entry]);
    return undefined;
  }

  #ofIds(ids: readonly string[]): Entry[] {
    return ids.flatMap((id) => this.#shelf.get(id) ?? []);
  }

  #forget(entries: readonly Entry[], soft: boolean): void {
    if (!soft) {
      this.#drop(entries);
      return;
    }
    for (const entry of entries) {
      const stored = this.#read(entry);
      const own = entry.octets - entry.length;
      if (stored && !this.#change(entry, { ...stored, outdated: true }, own)) this.#drop([entry]);
    }
  }

  #drop(entries: readonly Entry[]): void {
    const dropped = entries.filter((entry) => this.#shelf.drop(entry));
    if (dropped.length === 0) return;
    for (const { id, octets, length, use } of dropped) {
      this.#recent.delete(id);
      this.#room.give(octets - length);
      use.end();
    }
    this.#erase(dropped);
  }

  #erase(gone: readonly Row[]): void {
    this.#options.rows.forget(gone.map(({ seq }) => seq));
    for (const { seq } of gone) this.#options.files.remove(seq);
  }

  #evict(): boolean {
    for (const entry of this.#shelf.recency) {
      if (!entry.use.byOne) continue;
      this.#drop([entry]);
      return true;
    }
    return false;
  }
}

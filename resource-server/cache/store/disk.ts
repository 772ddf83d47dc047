import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#shared/base/make-folder.ts';
import { isDiskError } from '#shared/stores/sqlite/file/write-fault.ts';
import type { CacheStore } from './cache-store.ts';
import { DiskFiles } from './disk-files.ts';
import { ownFolder } from './disk-folder.ts';
import { DiskRows } from './disk-rows.ts';
import { DiskStore } from './disk-store.ts';

/** Answers of a space on disk, if nothing else is said: each takes some hundred octets of memory. */
const MOST_ENTRIES = 100_000;

/** The disk cache of one process, for all its spaces. */
export interface CacheDisk extends AsyncDisposable {
  /** The answers of a space, once for each. `maxBytes`: of content and of what describes it. */
  store(space: string, maxBytes: number): CacheStore;
  /** Where the feed of invalidations stood when all that it had said until then was removed; undefined: nothing is kept. */
  readonly position: string | undefined;
  /** Is written when all removals that were begun before are done, and together with them. */
  setPosition(position: string): void;
  /** Removes the files of processes that are gone for good, such as workers when there are fewer. */
  tidy(now: number): Promise<void>;
}

interface Options {
  /** The folder of several processes: each takes a numbered folder in it. */
  readonly folder: string;
  /** All that there are: what is kept of others is removed. */
  readonly spaces: readonly string[];
  readonly mostEntries?: number;
}

/**
 * Removes what no row names, such as answers that were coming when the process before died. What cannot be read is removed as
 * a whole. Rejects when there is no room on the disk.
 */
export async function openDisk(options: Options): Promise<CacheDisk> {
  const { folder, spaces, mostEntries = MOST_ENTRIES } = options;
  const own = ownFolder(folder);
  try {
    const content = join(own.path, 'content');
    makeFolder(content);
    const files = new DiskFiles(content);
    const { rows, named } = readRows(join(own.path, 'answers.db'), spaces);
    await files.retain(named);
    const position = new FeedPosition((where) => rows.setPosition(where));
    const removing = position.removing.bind(position);
    return {
      store: (space, maxBytes) =>
        new DiskStore({ space, maxBytes, mostEntries, rows, files, removing }),
      get position() {
        return rows.position;
      },
      setPosition: (where) => position.set(where),
      tidy: (now) => own.tidy(now),
      async [Symbol.asyncDispose]() {
        await files[Symbol.asyncDispose]();
        rows[Symbol.dispose]();
        own[Symbol.dispose]();
      },
    };
  } catch (error) {
    own[Symbol.dispose]();
    throw error;
  }
}

interface Read {
  readonly rows: DiskRows;
  /** The numbers of the files that they name. */
  readonly named: ReadonlySet<number>;
}

function readRows(path: string, spaces: readonly string[]): Read {
  try {
    return openRows(path, spaces);
  } catch (error) {
    if (isDiskError(error)) throw error;
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    return openRows(path, spaces);
  }
}

function openRows(path: string, spaces: readonly string[]): Read {
  const rows = new DiskRows(path);
  try {
    return { rows, named: rows.retain(spaces) };
  } catch (error) {
    rows[Symbol.dispose]();
    throw error;
  }
}

/**
 * Where the feed of invalidations stands by what is written. It is never written ahead of what was removed because of it:
 * it waits for all removals that go on.
 */
class FeedPosition {
  readonly #write: (position: string) => void;
  #going = 0;
  #waiting: string | undefined;

  /** `write` may throw: then it is written with the next. */
  constructor(write: (position: string) => void) {
    this.#write = write;
  }

  set(position: string): void {
    this.#waiting = position;
    this.#settle();
  }

  /** Where it fails, no position is written any more. */
  async removing<T>(work: () => Promise<T>): Promise<T> {
    this.#going += 1;
    const result = await work();
    this.#going -= 1;
    this.#settle();
    return result;
  }

  #settle(): void {
    if (this.#going > 0 || this.#waiting === undefined) return;
    try {
      this.#write(this.#waiting);
      this.#waiting = undefined;
    } catch {
      // The former file stays, so more entries are dropped than necessary.
    }
  }
}

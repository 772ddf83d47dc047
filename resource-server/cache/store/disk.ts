import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#shared/base/make-folder.ts';
import { isDiskError } from '#shared/stores/sqlite/file/write-fault.ts';
import type { CacheStore } from './cache-store.ts';
import { DiskFiles } from './disk-files.ts';
import { ownFolder } from './disk-folder.ts';
import { DiskRows } from './disk-rows.ts';
import { DiskStore } from './disk-store.ts';

/** The most answers of a space on disk by default. Each takes some hundred octets of memory. */
const MOST_ENTRIES = 100_000;

/** The disk cache of one process, for all its spaces. */
export interface CacheDisk extends AsyncDisposable {
  /** Opens the store of a space, once per space. `maxBytes`: the limit for contents and descriptions. */
  store(space: string, maxBytes: number): CacheStore;
  /** The position in the feed of invalidations up to which all removals are done. Undefined: the disk was empty. */
  readonly position: string | undefined;
  /** Writes the position once all removals that began before are done. */
  setPosition(position: string): void;
  /** Removes the files of processes that will not return, such as surplus workers. */
  tidy(now: number): Promise<void>;
}

interface Options {
  /** The folder of several processes, in which each takes a numbered folder. */
  readonly folder: string;
  /** All spaces with a disk cache. Answers of other spaces are removed. */
  readonly spaces: readonly string[];
  readonly mostEntries?: number;
}

/**
 * Opens the disk of this process. Removes files without a row, such as answers that were arriving when the previous
 * process died, and unreadable rows with all files. Rejects if the disk has no room.
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
  /** The numbers of the files that the rows name. */
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
 * The stored position in the feed of invalidations. It never passes an invalidation whose removals are not done:
 * writing waits for all running removals.
 */
class FeedPosition {
  readonly #write: (position: string) => void;
  #going = 0;
  #waiting: string | undefined;

  /** `write` may throw. Then the position is written with the next one. */
  constructor(write: (position: string) => void) {
    this.#write = write;
  }

  set(position: string): void {
    this.#waiting = position;
    this.#settle();
  }

  /** Runs a removal. After a failure no position is written any more. */
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
      // The old position stays, so a restart removes more entries than necessary.
    }
  }
}

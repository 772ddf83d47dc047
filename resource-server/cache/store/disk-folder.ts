import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { INVALIDATION_LIFE } from '#shared/stores/cache/invalidations.ts';

/** The most processes that share a folder. */
const MOST = 1024;
const SQLITE_BUSY = 5;
const LOCK = 'lock';

/** A folder that only this process uses, until it is disposed of or the process dies. */
export interface OwnFolder extends Disposable {
  readonly path: string;
  /**
   * Empties numbered folders beside it that were unused for as long as invalidations are kept, since their answers
   * could no longer be used. `now`: in milliseconds since the epoch, recorded as the last use of this folder.
   */
  tidy(now: number): Promise<void>;
}

/**
 * Takes the first free numbered folder in `folder`. SQLite holds a lock on it. The operating system releases the lock
 * when the process dies, so no stale lock remains.
 */
export function ownFolder(folder: string): OwnFolder {
  for (let number = 0; number < MOST; number += 1) {
    const path = join(folder, `${number}`);
    makeFolder(path);
    const lock = lockOf(join(path, LOCK));
    if (lock !== undefined) {
      return {
        path,
        async tidy(now) {
          await utimes(join(path, LOCK), now / 1000, now / 1000);
          const numbered = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
          for (const name of numbered) await emptyIfLeft(join(folder, name), now);
        },
        [Symbol.dispose]: () => lock.close(),
      };
    }
  }
  throw new Error(`${folder}: ${MOST} processes have their answers there`);
}

/** Keeps the lock during the removal, so that another process cannot take the folder meanwhile. */
async function emptyIfLeft(path: string, now: number): Promise<void> {
  const { mtimeMs } = await stat(join(path, LOCK));
  if (mtimeMs > now - INVALIDATION_LIFE) return;
  using lock = lockOf(join(path, LOCK));
  if (lock === undefined) return;
  for (const name of await readdir(path)) {
    if (!name.startsWith(LOCK)) await rm(join(path, name), { recursive: true });
  }
}

/** Undefined: another process holds the lock. */
function lockOf(path: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

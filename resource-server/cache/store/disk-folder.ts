import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { INVALIDATION_LIFE } from '#shared/stores/cache/invalidations.ts';

/** Processes that share a folder. */
const MOST = 1024;
const SQLITE_BUSY = 5;
const LOCK = 'lock';

/** A folder that is this process's alone until it is disposed of, or the process dies. */
export interface OwnFolder extends Disposable {
  readonly path: string;
  /**
   * Empties those beside it that nobody has had for as long as invalidations are kept: what is in them could not be
   * used any more. `now`, in milliseconds since the epoch: when this one was had.
   */
  tidy(now: number): Promise<void>;
}

/**
 * The first of the numbered folders in `folder` that nobody has. SQLite holds the lock: the system lets go of it
 * when the process dies, so that none is ever left behind.
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

/** The lock stays, so that anybody who comes meanwhile finds that it is held. */
async function emptyIfLeft(path: string, now: number): Promise<void> {
  const { mtimeMs } = await stat(join(path, LOCK));
  if (mtimeMs > now - INVALIDATION_LIFE) return;
  using lock = lockOf(join(path, LOCK));
  if (lock === undefined) return;
  for (const name of await readdir(path)) {
    if (!name.startsWith(LOCK)) await rm(join(path, name), { recursive: true });
  }
}

/** Undefined: another process has it. */
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

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Processes that share a folder. */
const MOST = 1024;
const SQLITE_BUSY = 5;

/** A folder that is this process's alone until it is disposed of, or the process dies. */
export interface OwnFolder extends Disposable {
  readonly path: string;
}

/**
 * The first of the numbered folders in `folder` that nobody has. SQLite holds the lock: the system lets go of it
 * when the process dies, so that none is ever left behind.
 */
export function ownFolder(folder: string): OwnFolder {
  for (let number = 0; number < MOST; number += 1) {
    const path = join(folder, `${number}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = lockOf(join(path, 'lock'));
    if (lock !== undefined) return { path, [Symbol.dispose]: () => lock.close() };
  }
  throw new Error(`${folder}: ${MOST} processes have their answers there`);
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

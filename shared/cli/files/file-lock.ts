import { DatabaseSync } from 'node:sqlite';
import { Failure, type Shell } from '../arguments/command.ts';

const PAUSE = 50;
const LONGEST = 120_000;
const SQLITE_BUSY = 5;

/**
 * Runs `work` while no other process runs any with the same file. SQLite holds the lock, on the empty
 * file `path`: the system lets go of it when the process dies, so that none is ever left behind.
 * Throws `Failure` after two minutes.
 */
export async function withFileLock<T>(
  path: string,
  shell: Pick<Shell, 'wait'>,
  work: () => Promise<T>,
): Promise<T> {
  using file = new DatabaseSync(path, { timeout: 0 });
  for (let waited = 0; !isLocked(file); waited += PAUSE) {
    if (waited > LONGEST) throw new Failure(`another process holds ${path}`);
    await shell.wait(PAUSE);
  }
  return await work();
}

function isLocked(file: DatabaseSync): boolean {
  try {
    file.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

import { DatabaseSync } from 'node:sqlite';
import { Failure, type Shell } from '../arguments/command.ts';

const PAUSE = 50;
const LONGEST = 120_000;
const SQLITE_BUSY = 5;

/**
 * Runs `work` under an exclusive lock between processes. SQLite holds the lock on the empty file `path`. The system
 * releases it when the process dies, so that no stale lock remains. Throws `Failure` after two minutes.
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

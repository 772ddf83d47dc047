import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './write-fault.ts';

/** Locks a file of SQLite. Undefined: another process has the lock, or has the file open in WAL mode. */
export function lockFile(path: string): Disposable | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

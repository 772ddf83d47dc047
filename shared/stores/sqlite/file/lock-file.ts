import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './write-fault.ts';

/**
 * Locks a file of SQLite until it is disposed of; the system gives the lock back when a process dies. Undefined: another
 * process has it, or has it open in WAL mode, which only the last one can leave.
 */
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

import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';

/** SQLITE_FULL, and the errors of the WAL's index and of any write (SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE). */
const FULL: ReadonlySet<unknown> = new Set([13, 4874, 778]);

export function isFull(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && FULL.has(error.errcode);
}

/** True if the file system of a path takes no writes at all. SQLite says the same of it as of a full one. */
export function isReadOnly(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

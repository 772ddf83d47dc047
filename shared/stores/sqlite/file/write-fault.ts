import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { isOutOfRoom } from '#shared/base/out-of-room.ts';
import { StoreUnavailable } from '../../outage/unavailable.ts';

/** Primary result codes of SQLite, the low byte of an extended one (https://sqlite.org/rescode.html). */
const [BUSY, READONLY, IOERR, CORRUPT, FULL, NOTADB] = [5, 8, 10, 11, 13, 26];
/** SQLITE_IOERR_WRITE and SQLITE_IOERR_SHMSIZE, too: nothing was written, and SQLite does not say why. */
const UNSAID: ReadonlySet<number> = new Set([READONLY, 778, 4874]);

/** The error of SQLite, for writes that are refused before. */
export const DISK_FULL: Error = Object.assign(new Error('the disk is full'), { errcode: FULL });

const codeOf = (error: unknown): number =>
  (Object(error) as { readonly errcode?: number }).errcode ?? 0;
const kindOf = (error: unknown): number => codeOf(error) & 0xff;

/** True for errors of the disk, after which SQLite may have ended the transaction. */
export const isDiskError = (error: unknown): boolean => [IOERR, FULL].includes(kindOf(error));

/** True if another process has a lock. */
export const isBusy = (error: unknown): boolean => kindOf(error) === BUSY;

/** True if the file has unreadable pages, which is permanent. */
export const isDamage = (error: unknown): boolean => [CORRUPT, NOTADB].includes(kindOf(error));

/** Returns why the disk takes no writes. SQLite does not tell the cause, so this writes a file beside `path`. */
export function writeFault(path: string, error: unknown): 'full' | 'read-only' | undefined {
  if (codeOf(error) === FULL) return 'full';
  return UNSAID.has(codeOf(error)) ? tryToWrite(`${path}.probe`) : undefined;
}

/** Turns each error into `StoreUnavailable`: a full disk never looks like a "no". */
export function orUnavailable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw unavailable(path, cause);
  }
}

export function unavailable(path: string, cause: unknown): StoreUnavailable {
  if (cause instanceof StoreUnavailable) return cause;
  const fault = writeFault(path, cause);
  const reason = fault === 'read-only' ? 'the file system is read-only' : String(cause);
  const refused = fault !== undefined;
  return new StoreUnavailable(`${path}: ${reason}`, { cause, refused, full: fault === 'full' });
}

function tryToWrite(probe: string): 'full' | 'read-only' | undefined {
  try {
    const file = openSync(probe, 'w', 0o600);
    try {
      writeSync(file, '1');
    } finally {
      closeSync(file);
      // Another process may try the same.
      rmSync(probe, { force: true });
    }
    return undefined;
  } catch (reason) {
    if (isOutOfRoom(reason)) return 'full';
    return (reason as NodeJS.ErrnoException).code === 'EROFS' ? 'read-only' : undefined;
  }
}

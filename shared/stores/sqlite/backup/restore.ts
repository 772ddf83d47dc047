import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { restoringOf } from '../file/connection.ts';
import { lockFile } from '../file/lock-file.ts';
import { syncPath } from '../file/sync-path.ts';
import { isDamage } from '../file/write-fault.ts';
import { STATE } from '../schema/state.ts';
import { TRANSIENT } from '../schema/transient.ts';

/** A restore replaces these. The mark of the commits would miss in the backup what was done since. */
const REPLACED = [...['', '-wal', '-shm', '.mark'].map((end) => `${STATE.file}${end}`), 'content'];

/**
 * Keeps the store of `folder` from all other processes until it is disposed of. Undefined: another process has it
 * open, or restores it. WAL can be left only by the last connection, so a server that is idle is found, too. A file
 * that is damaged passes: it may be what the restore is for. Where there is no store, `transient.db` is made empty,
 * so that there is something to hold.
 */
export function holdAlone(folder: string): Disposable | undefined {
  closeSync(openSync(join(folder, TRANSIENT.file), 'a', 0o600));
  const held = new DisposableStack();
  for (const { file } of [STATE, TRANSIENT]) {
    const path = join(folder, file);
    if (!existsSync(path)) continue;
    try {
      if (held.use(lockFile(path)) !== undefined) continue;
    } catch (error) {
      if (isDamage(error)) continue;
      held.dispose();
      throw error;
    }
    held.dispose();
    return undefined;
  }
  return held;
}

/** Where a restore of `folder` that was interrupted puts the former store; undefined: none was. */
export function interruptedIn(folder: string): string | undefined {
  const mark = restoringOf(join(folder, STATE.file));
  return existsSync(mark) ? join(folder, readFileSync(mark, 'utf8').trimEnd()) : undefined;
}

/** From here until `endRestore` nobody can open the store, whatever becomes of this process. `aside` is in `folder`. */
export function beginRestore(folder: string, aside: string): void {
  const mark = restoringOf(join(folder, STATE.file));
  const partial = `${mark}.partial`;
  writeFileSync(partial, `${basename(aside)}\n`, { mode: 0o600 });
  syncPath(partial);
  renameSync(partial, mark);
  syncPath(folder);
}

export function endRestore(folder: string): void {
  rmSync(restoringOf(join(folder, STATE.file)));
  syncPath(folder);
}

/** Whether the former store is still in its place, whole. */
export const isUntouched = (aside: string) => !existsSync(aside) && !existsSync(partOf(aside));

/**
 * Whether `content` of `folder` can be moved: a mount of its own cannot (rename(2): EBUSY). `filled` is a folder beside
 * it that is not empty: nothing is ever moved onto such a one, so that asking changes nothing.
 */
export function isMovable(folder: string, filled: string): boolean {
  const content = join(folder, 'content');
  if (!lstatSync(content, { throwIfNoEntry: false })?.isDirectory()) return true;
  try {
    renameSync(content, filled);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOTEMPTY' || code === 'EEXIST';
  }
  throw new Error(`${filled} is empty`);
}

/**
 * Puts `state.db` and `content` of `staged` into the place of those in `folder`, which are moved to `aside`: that is
 * made, if only empty. All three are on one file system, and a restore has begun. It may do so again after an
 * interruption: what is in the place once `aside` is there, the former call has put there.
 */
export function swapIn(folder: string, staged: string, aside: string): void {
  syncPath(join(staged, STATE.file));
  const replaced = REPLACED.filter((name) => existsSync(join(folder, name)));
  if (existsSync(aside)) {
    for (const name of replaced) rmSync(join(folder, name), { recursive: true });
  } else {
    const part = partOf(aside);
    makeFolder(part);
    for (const name of replaced) renameSync(join(folder, name), join(part, name));
    syncPath(part);
    renameSync(part, aside);
  }
  for (const name of ['content', STATE.file]) renameSync(join(staged, name), join(folder, name));
  syncPath(folder);
}

/** Notes in a copy that is to be restored when that was. */
export function noteRestored(staged: string, now: number): void {
  using database = new DatabaseSync(join(staged, STATE.file));
  database.prepare('UPDATE tally SET restored = ?').run(Math.ceil(now));
}

/** A former store that is not moved aside as a whole yet. */
const partOf = (aside: string) => `${aside}.partial`;

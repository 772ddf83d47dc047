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
import { STATE, TRANSIENT } from '../schema/state.ts';

/** The files that a restore replaces. With the old mark, the backup would seem to lack commits. */
const REPLACED = [...['', '-wal', '-shm', '.mark'].map((end) => `${STATE.file}${end}`), 'content'];

/**
 * Locks the store of `folder` for this process. Undefined: another process has it open, even idle, since only the last
 * connection can leave WAL mode, or restores it. A damaged file is not locked: it may be the reason for the restore.
 * Without a store, makes an empty `transient.db` to lock.
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

/** Whether the folder has an embedded store, or an unfinished restore. */
export function hasSqlite(folder: string): boolean {
  const state = join(folder, STATE.file);
  return existsSync(state) || existsSync(restoringOf(state));
}

/** Returns where an interrupted restore of `folder` puts the former store; undefined: no restore was interrupted. */
export function interruptedIn(folder: string): string | undefined {
  const mark = restoringOf(join(folder, STATE.file));
  return existsSync(mark) ? join(folder, readFileSync(mark, 'utf8').trimEnd()) : undefined;
}

/** From now until `endRestore` no process can open the store. `aside`: a folder in `folder`. */
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

/** Whether the former store is whole and in its place. */
export const isUntouched = (aside: string) => !existsSync(aside) && !existsSync(partOf(aside));

/** Whether `content` can be moved: a mount cannot (rename(2): EBUSY). `filled`: a folder that is not empty. */
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
 * Replaces `state.db` and `content` of `folder` by those of `staged`, and moves the former ones to `aside`. All are on
 * one file system, and `beginRestore` was called. After an interruption, call it again: if `aside` exists, the files in
 * `folder` are new.
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

/** Notes the time of the restore in the copy. */
export function noteRestored(staged: string, now: number): void {
  using database = new DatabaseSync(join(staged, STATE.file));
  database.prepare('UPDATE tally SET restored = ?').run(Math.ceil(now));
}

/** The unfinished folder `aside`. */
const partOf = (aside: string) => `${aside}.partial`;

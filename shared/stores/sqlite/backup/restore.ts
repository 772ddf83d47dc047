import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { syncPath } from '../file/sync-path.ts';
import { STATE } from '../schema/state.ts';
import { TRANSIENT } from '../schema/transient.ts';

/** Stands in the place of `state.db` during the swap. It is no database, so no server starts on it. */
const MARKER = 'countersign restore was interrupted: run it again. The former store is in ';
const [SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB] = [5, 11, 26];

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
    const database = held.adopt(new DatabaseSync(path, { timeout: 0 }), (it) => it.close());
    try {
      database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    } catch (error) {
      const code = Number((error as { errcode?: number }).errcode) & 0xff;
      if (code === SQLITE_NOTADB || code === SQLITE_CORRUPT) continue;
      held.dispose();
      if (code === SQLITE_BUSY) return undefined;
      throw error;
    }
  }
  return held;
}

/**
 * Where the former store was moved to by a restore of `folder` that was interrupted amid the swap; undefined: none
 * was.
 */
export function interruptedIn(folder: string): string | undefined {
  const path = join(folder, STATE.file);
  if (!existsSync(path)) return undefined;
  const start = Buffer.alloc(4096);
  const descriptor = openSync(path, 'r');
  const length = readSync(descriptor, start, 0, start.length, 0);
  closeSync(descriptor);
  const text = start.subarray(0, length).toString();
  return text.startsWith(MARKER) ? text.slice(MARKER.length).trimEnd() : undefined;
}

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

/** Takes back from `folder` the content that an interrupted swap has put there. */
export function takeBack(folder: string, staged: string): void {
  const [there, content] = [join(folder, 'content'), join(staged, 'content')];
  if (existsSync(staged) && !existsSync(content) && existsSync(there)) renameSync(there, content);
}

/**
 * Puts `state.db` and `content` of `staged` into the place of those in `folder`, which are moved to `aside`. All
 * three are on one file system, and nobody has the store open. `state.db` comes last: until then a server refuses
 * to start. After an interruption `interruptedIn` knows of it.
 */
export function swapIn(folder: string, staged: string, aside: string): void {
  const state = join(folder, STATE.file);
  const content = join(folder, 'content');
  syncPath(join(staged, STATE.file));
  if (interruptedIn(folder) === undefined) {
    // The mark would miss in the backup what was done since.
    const beside = ['-wal', '-shm', '.mark'].map((end) => `${STATE.file}${end}`);
    for (const file of beside) moveIfThere(folder, aside, file);
    if (existsSync(state)) {
      makeFolder(aside);
      linkSync(state, join(aside, STATE.file));
    }
    const marker = join(staged, 'marker');
    writeFileSync(marker, `${MARKER}${aside}\n`, { mode: 0o600 });
    syncPath(marker);
    renameSync(marker, state);
    syncPath(folder);
  }
  moveIfThere(folder, aside, 'content');
  renameSync(join(staged, 'content'), content);
  syncPath(folder);
  renameSync(join(staged, STATE.file), state);
  syncPath(folder);
}

function moveIfThere(folder: string, aside: string, name: string): void {
  if (!existsSync(join(folder, name))) return;
  makeFolder(aside);
  renameSync(join(folder, name), join(aside, name));
}

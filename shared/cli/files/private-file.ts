import { chmod, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type * as z from 'zod';
import { makeFolder } from '#shared/base/make-folder.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { Failure, type Shell } from '../arguments/command.ts';

/** Milliseconds between two attempts to lock a file, and after which the attempts end. */
const PAUSE = 50;
const LONGEST = 120_000;
const SQLITE_BUSY = 5;

/**
 * Returns the path of a file with secrets of this user: under `XDG_CONFIG_HOME` (only if it is absolute, XDG Base
 * Directory Specification), else under `HOME`; on Windows under `APPDATA`. Undefined if none of these variables is set.
 */
export function privatePath(
  name: string,
  env: NodeJS.ProcessEnv,
  platform = process.platform,
): string | undefined {
  const folder = platform === 'win32' ? env['APPDATA'] : configHome(env);
  return folder ? join(folder, 'countersign', name) : undefined;
}

function configHome({ XDG_CONFIG_HOME: xdg, HOME: home }: NodeJS.ProcessEnv): string | undefined {
  if (xdg && isAbsolute(xdg)) return xdg;
  return home ? join(home, '.config') : undefined;
}

/**
 * Reads the JSON in a private file. Undefined if there is no file. Throws `Failure` if other users may read the file,
 * or its content is not of the schema. In the message `remedy` follows the path.
 */
export async function readPrivate<T>(
  path: string,
  schema: z.ZodType<T>,
  remedy: string,
): Promise<T | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  const { success, data } = schema.safeParse(parseJson(text));
  if (!success) throw new Failure(`${path} ${remedy}`);
  return data;
}

/**
 * Replaces the file atomically, so that a reader finds the whole old or the whole new file, also after a crash. Call it
 * only within `lockPrivate`. Throws `Failure`.
 */
export async function writePrivate(path: string, value: unknown, random: Random): Promise<void> {
  const draft = `${path}.${randomId(random)}`;
  try {
    await writeFile(draft, `${JSON.stringify(value, undefined, 2)}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new Failure(`cannot write ${path}: ${(error as Error).message}`);
  }
}

/** Runs `work` while no other process reads or replaces the file, so that no update is lost. Throws `Failure`. */
export async function lockPrivate<T>(
  path: string,
  shell: Pick<Shell, 'wait'>,
  work: () => Promise<T>,
): Promise<T> {
  await makePrivateFolder(dirname(path));
  return withFileLock(`${path}.lock`, shell, work);
}

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

/** Creates a folder that only its owner may enter, or sets the permissions of an existing folder. Throws `Failure`. */
async function makePrivateFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder);
    await chmod(folder, 0o700);
  } catch (error) {
    throw new Failure(`cannot use the folder ${folder}: ${(error as Error).message}`);
  }
}

/** Checks the mode of the open file, not of its path. Modes on Windows say nothing about other users. */
async function readText(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new Failure(`others may read ${path}, which holds secrets: chmod 600 ${path}`);
    }
    return await file.readFile('utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Failure(`cannot read ${path} (${code})`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { rm } from 'node:fs/promises';
import type { Random } from '#shared/base/random.ts';
import { CLI } from '#shared/base/invocation.ts';
import { privatePath, readPrivate, writePrivate } from '../files/private-file.ts';
import { type Login, loginSchema } from './login.ts';

/** Returns the path of the file with this user's login. Undefined if no variable names a folder. */
export function loginPath(env: NodeJS.ProcessEnv, platform = process.platform): string | undefined {
  return privatePath('login.json', env, platform);
}

/**
 * Reads the login. Undefined if there is none. Throws `Failure` if other users may read the file, or it has other
 * content.
 */
export async function readLogin(path: string): Promise<Login | undefined> {
  return readPrivate(path, loginSchema, `is not a login: delete it and run ${CLI} login`);
}

/** Writes the login. Call it only within `lockPrivate`. Throws `Failure`. */
export async function writeLogin(path: string, login: Login, random: Random): Promise<void> {
  await writePrivate(path, login, random);
}

export async function removeLogin(path: string): Promise<void> {
  await rm(path, { force: true });
}

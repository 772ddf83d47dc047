import { rm } from 'node:fs/promises';
import type { Random } from '#shared/base/random.ts';
import { CLI } from '#shared/base/invocation.ts';
import { privatePath, readPrivate, writePrivate } from '../files/private-file.ts';
import { type Login, loginSchema } from './login.ts';

/** Where the login of this user is kept. Undefined when there is no place. */
export function loginPath(env: NodeJS.ProcessEnv, platform = process.platform): string | undefined {
  return privatePath('login.json', env, platform);
}

/** Undefined when there is none. Throws `Failure` when others may read it, or it is something else. */
export async function readLogin(path: string): Promise<Login | undefined> {
  return readPrivate(path, loginSchema, `is not a login: delete it and run ${CLI} login`);
}

/** Only under `lockPrivate`. Throws `Failure`. */
export async function writeLogin(path: string, login: Login, random: Random): Promise<void> {
  await writePrivate(path, login, random);
}

export async function removeLogin(path: string): Promise<void> {
  await rm(path, { force: true });
}

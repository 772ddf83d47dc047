import { derivedKey } from '#shared/base/derived-key.ts';
import { existsSync } from 'node:fs';
import { link, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#shared/base/make-folder.ts';
import { type Random, randomId, systemRandom } from '#shared/base/random.ts';
import { ConfigError } from '#shared/base/mistake.ts';
import { readGivenFile } from './given-file.ts';
import { isProduction, SECRET_MISSING } from './production.ts';
import type { Config } from './schema.ts';

const MINIMUM_BYTES = 32;
const FILE = 'COUNTERSIGN_SECRET_FILE';
/** The name of the file with the master secret in the data folder. */
const OWN = 'secret';
/**
 * Write permissions of the group and of others. Read permissions are allowed, since containers mount secrets with them.
 */
const WRITABLE = 0o022;
const READABLE = 0o055;

/**
 * The master secret: 32 bytes derived (HKDF, RFC 5869) from `COUNTERSIGN_SECRET` or from what
 * `COUNTERSIGN_SECRET_FILE` names, any text of at least 32 bytes. In development, without either,
 * from `<data>/secret`, which the first process makes. Throws `ConfigError` when it is missing in
 * production, too short, in a file that others may write, or in `<data>/secret` that others may read.
 */
export async function readMasterSecret(
  config: Parameters<typeof isProduction>[0] & Pick<Config, 'data'>,
  env: NodeJS.ProcessEnv,
  random: Random = systemRandom,
): Promise<Buffer> {
  const found = await findMasterSecret(config, env);
  if (found) return found;
  const own = join(config.data, OWN);
  await makeOnce(config.data, own, random);
  return readOwn(own);
}

/** Finds the master secret as `readMasterSecret` does, but makes none. Undefined: there is no secret yet. */
export async function findMasterSecret(
  config: Parameters<typeof readMasterSecret>[0],
  env: NodeJS.ProcessEnv,
): Promise<Buffer | undefined> {
  const given = await givenSecret(env);
  if (given) return given;
  if (isProduction(config)) throw new ConfigError([SECRET_MISSING]);
  const own = join(config.data, OWN);
  return existsSync(own) ? readOwn(own) : undefined;
}

const readOwn = async (file: string) =>
  derive('data', await readGivenFile('data', file, WRITABLE | READABLE));

/** Returns the master secret that the environment gives, if any. */
async function givenSecret(env: NodeJS.ProcessEnv): Promise<Buffer | undefined> {
  const text = env['COUNTERSIGN_SECRET'];
  const file = env[FILE];
  if (text && file) {
    throw refusal('COUNTERSIGN_SECRET', 'is set beside COUNTERSIGN_SECRET_FILE: keep one of them');
  }
  if (text) return derive('COUNTERSIGN_SECRET', text);
  return file ? derive(FILE, await readGivenFile(FILE, file, WRITABLE)) : undefined;
}

const refusal = (path: string, message: string) => new ConfigError([{ path, message }]);

function derive(path: string, text: string): Buffer {
  const secret = Buffer.from(text.trim());
  if (secret.length < MINIMUM_BYTES) {
    throw refusal(
      path,
      `holds a secret shorter than ${MINIMUM_BYTES} bytes (make one with: openssl rand -base64 32)`,
    );
  }
  return derivedKey(secret, 'countersign master secret');
}

/**
 * Writes the file with the secret atomically. If several processes start at once, all read the secret that one of them
 * has written.
 */
async function makeOnce(folder: string, file: string, random: Random): Promise<void> {
  makeFolder(folder);
  const draft = `${file}.${randomId(random)}`;
  await writeFile(draft, `${random(32).toString('base64url')}\n`, {
    flag: 'wx',
    mode: 0o600,
    flush: true,
  });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
}

import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { opaqueString } from '#shared/people/names/precis.ts';
import { type ScramHash, SCRAM_HASHES } from './hashes.ts';
import { saslprep } from './saslprep.ts';

const derive = promisify(pbkdf2);

/**
 * Derives the keys that SCRAM stores for a password (RFC 5802 section 3), off the main thread. RFC 7804 section 2.2
 * prepares passwords by OpaqueString, but existing clients prepare them by SASLprep. If the two results differ, as
 * for a password with U+00BD, some clients would fail. So the function returns undefined for such a password, and for
 * a password that either preparation refuses.
 */
export async function scramKeys(
  hash: ScramHash,
  password: string,
  salt: Buffer,
  iterations: number,
): Promise<{ storedKey: Buffer; serverKey: Buffer } | undefined> {
  const prepared = opaqueString(password);
  if (prepared === undefined || saslprep(password) !== prepared) return undefined;
  const { name, size } = SCRAM_HASHES[hash];
  const salted = await derive(prepared, salt, iterations, size, name);
  const clientKey = createHmac(name, salted).update('Client Key').digest();
  return {
    storedKey: createHash(name).update(clientKey).digest(),
    serverKey: createHmac(name, salted).update('Server Key').digest(),
  };
}

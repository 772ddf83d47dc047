import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import type { ScramHash } from '#shared/stores/people.ts';
import { opaqueString } from './names/precis.ts';
import { saslprep } from './names/saslprep.ts';

/** Apache HttpClient refuses more. */
export const SCRAM_ITERATIONS = 100_000;

/** Bytes; one length for all, so that a salt does not say whether there is such a person. */
export const SCRAM_SALT_BYTES = 16;

interface HashFunction {
  /** As node:crypto calls it. */
  readonly name: string;
  /** Bytes of its output. */
  readonly size: number;
}

export const SCRAM_HASHES: Readonly<Record<ScramHash, HashFunction>> = {
  'SHA-1': { name: 'sha1', size: 20 },
  'SHA-256': { name: 'sha256', size: 32 },
};

const derive = promisify(pbkdf2);

/**
 * What SCRAM keeps of a password (RFC 5802 section 3), derived off the main thread. RFC 7804 section 2.2
 * prepares it by OpaqueString, the clients that exist prepare it by SASLprep: a password of which the two
 * make different things, such as one with U+00BD, would be right in one client and wrong in the next.
 * Undefined for it, and for one that either refuses.
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

import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';

/** Hash functions of the schemes SCRAM-SHA-1 and SCRAM-SHA-256, with the length of their results. */
const HASHES = {
  'SHA-1': { name: 'sha1', octets: 20 },
  'SHA-256': { name: 'sha256', octets: 32 },
} as const;

export type ScramHash = keyof typeof HASHES;

export interface Keys {
  readonly clientKey: Buffer;
  readonly serverKey: Buffer;
}

const hi = promisify(pbkdf2);

/** The keys of RFC 7804 section 3. `password` is already prepared. */
export async function keysOf(
  hash: ScramHash,
  password: string,
  salt: Buffer,
  iterations: number,
): Promise<Keys> {
  const { name, octets } = HASHES[hash];
  const saltedPassword = await hi(password, salt, iterations, octets, name);
  return {
    clientKey: hmac(hash, saltedPassword, 'Client Key'),
    serverKey: hmac(hash, saltedPassword, 'Server Key'),
  };
}

export function clientProof(hash: ScramHash, { clientKey }: Keys, authMessage: string): Buffer {
  const storedKey = createHash(HASHES[hash].name).update(clientKey).digest();
  const signature = hmac(hash, storedKey, authMessage);
  return Buffer.from(clientKey.map((octet, at) => octet ^ (signature[at] ?? 0)));
}

export function serverSignature(hash: ScramHash, { serverKey }: Keys, authMessage: string): Buffer {
  return hmac(hash, serverKey, authMessage);
}

function hmac(hash: ScramHash, key: Buffer, text: string): Buffer {
  return createHmac(HASHES[hash].name, key).update(text).digest();
}

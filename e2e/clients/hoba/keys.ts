/** Keys of a client (RFC 7486 sections 5.1, 7 and 9.4): one for each origin and realm. */
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface HobaKey {
  readonly privateKey: KeyObject;
  /** base64url, as it is sent and signed. */
  readonly kid: string;
}

/** `kidtype` of a hashed public key, which is what a server takes when none is said (section 6.1). */
export const HASHED = '0';

/** Section 7: not below 2,048 bits. */
export function newKey(modulusLength = 2048): HobaKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return { privateKey, kid: kidOf(privateKey) };
}

/**
 * Section 9.4 says "as in DANE" and names neither of the choices that RFC 6698 leaves: of a bare key
 * there is its SubjectPublicKeyInfo, and SHA-256 is what all have to know (its section 6).
 */
export function kidOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(der).digest('base64url');
}

/** Returns the value of `pub` (section 6.1). */
export function pemOf({ privateKey }: HobaKey): string {
  return createPublicKey(privateKey).export({ format: 'pem', type: 'spki' });
}

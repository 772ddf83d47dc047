/** A client's keys (RFC 7486 sections 5.1, 7 and 9.4): one key per origin and realm. */
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface HobaKey {
  readonly privateKey: KeyObject;
  /** base64url, as sent and signed. */
  readonly kid: string;
}

/** The `kidtype` of a hashed public key, which a server assumes if none is sent (section 6.1). */
export const HASHED = '0';

/** The length must be at least 2,048 bits (section 7). */
export function newKey(modulusLength = 2048): HobaKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return { privateKey, kid: kidOf(privateKey) };
}

/**
 * Section 9.4 says "as in DANE", and does not choose among the options of RFC 6698. For a bare key this is
 * SubjectPublicKeyInfo, and SHA-256 is mandatory in DANE (section 6).
 */
export function kidOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return createHash('sha256').update(der).digest('base64url');
}

/** Returns the value of `pub` (section 6.1). */
export function pemOf({ privateKey }: HobaKey): string {
  return createPublicKey(privateKey).export({ format: 'pem', type: 'spki' });
}

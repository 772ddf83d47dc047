import { hkdfSync } from 'node:crypto';

/**
 * 32 bytes of a secret for one purpose (HKDF-SHA-256, RFC 5869): of one purpose nothing follows about
 * another. A purpose is written once in the code and never changes: what was made under it would be lost.
 */
export function derivedKey(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}

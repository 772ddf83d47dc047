import { createPublicKey } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';

/** Returns the SubjectPublicKeyInfo of a 2048-bit RSA key without a known private key, encoded as keys are stored. */
export function decoyKey(random: Random): string {
  const modulus = random(256);
  modulus[0] = (modulus[0] ?? 0) | 0x80;
  modulus[255] = (modulus[255] ?? 0) | 1;
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return key.export({ type: 'spki', format: 'der' }).toString('base64url');
}

import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** Key pairs, and signatures made without a library, so that a test can sign what a library would refuse. */
export const GENERATE = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

export function base64url(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  );
}

/** Signs as the key's type requires, whatever the header says. */
export function signJws(header: unknown, payload: unknown, key: KeyObject): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

export function publicJwk(key: KeyObject): Record<string, unknown> {
  return { ...key.export({ format: 'jwk' }) };
}

import { createPublicKey, hash, type KeyObject, type webcrypto } from 'node:crypto';

/** A public key in the form that is stored, which is the same for every spelling of the key. */
export interface KeptKey {
  /** The key's fingerprint: base64url(SHA-256(DER of SubjectPublicKeyInfo)). */
  readonly id: string;
  /** The key: base64url of the DER of SubjectPublicKeyInfo. */
  readonly spki: string;
}

/** Returns the stored form of a JWK; undefined if it is no public key. */
export function keptJwk(jwk: Readonly<Record<string, unknown>>): KeptKey | undefined {
  try {
    return keptKey(keyFromJwk(jwk));
  } catch {
    return undefined;
  }
}

/**
 * The key is exported as a JWK first, which has one form of each number and point. DER may have a compressed point,
 * or an explicit curve.
 */
export function keptKey(key: KeyObject): KeptKey {
  const again = keyFromJwk({ ...key.export({ format: 'jwk' }) });
  const spki = again.export({ format: 'der', type: 'spki' });
  return { id: keyIdOf(spki), spki: spki.toString('base64url') };
}

/** Returns the id of a key: the hash of its SubjectPublicKeyInfo. */
export const keyIdOf = (spki: Uint8Array) => hash('sha256', spki, 'base64url');

/** Makes a key from the public members of a JWK only (RFC 7518 section 6, RFC 8037 section 2). */
export function keyFromJwk({ kty, crv, x, y, n, e }: Readonly<Record<string, unknown>>): KeyObject {
  const key = { kty, crv, x, y, n, e } as webcrypto.JsonWebKey;
  return createPublicKey({ key, format: 'jwk' });
}

import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { ALGORITHMS } from '#shared/jose/algorithms.ts';
import { signEs256 } from '#shared/jose/sign-jws.ts';
import { thumbprint } from '#shared/jose/thumbprint.ts';

/** The key pair of a client that supports DPoP. */
export interface DpopKey {
  readonly key: KeyObject;
  readonly publicJwk: object;
  /** The thumbprint that tokens are bound to (RFC 9449 section 6.1). */
  readonly jkt: string;
}

/** The members of a proof (RFC 9449 section 4.2). */
export interface DpopClaims {
  readonly method: string;
  /** The URL without query and fragment. */
  readonly url: string;
  readonly accessToken: string;
  readonly jti: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly nonce?: string | undefined;
}

/** Makes a key pair for ES256. */
export function createDpopKey(): DpopKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
  const publicJwk = { kty, crv, x, y };
  const algorithm = ALGORITHMS.get('ES256');
  if (algorithm === undefined) throw new Error('ES256 is not on the list');
  return { key: privateKey, publicJwk, jkt: thumbprint(publicJwk, algorithm) };
}

/** Returns the proof for a request with an access token (RFC 9449 sections 4.2 and 7). */
export function dpopProof({ key, publicJwk }: DpopKey, claims: DpopClaims): string {
  const { method, url, accessToken, jti, iat, nonce } = claims;
  const ath = hash('sha256', accessToken, 'base64url');
  return signEs256(
    { typ: 'dpop+jwt', jwk: publicJwk },
    { jti, htm: method, htu: url, iat, ath, ...(nonce !== undefined && { nonce }) },
    key,
  );
}

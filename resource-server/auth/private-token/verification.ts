import type { KeyObject } from 'node:crypto';
import type { IssuerKey, TrustedIssuer } from '#shared/auth/schemes/parts/token-issuer.ts';
import { blindRsaPublicKey, verifyBlindRsa } from '#shared/private-token/blind-rsa.ts';

/** Decides whether the authenticator of a token is valid. The token and the key have the same type. */
export type Verify = TrustedIssuer['verify'];

/** Verifies publicly verifiable tokens (RFC 9578 section 6.4). Each key is imported once. */
export function blindRsaVerification(): Verify {
  const imported = new WeakMap<IssuerKey, KeyObject>();
  return (token, key) => {
    const publicKey = imported.get(key) ?? blindRsaPublicKey(key.publicKey);
    if (publicKey === undefined) return false;
    imported.set(key, publicKey);
    return verifyBlindRsa(publicKey, token.input, token.authenticator);
  };
}

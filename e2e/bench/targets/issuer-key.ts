import { createPublicKey, type webcrypto } from 'node:crypto';

export interface IssuerKey extends webcrypto.JsonWebKey {
  readonly kid?: string;
}

/** The published key with which an authorization server signs by ES256. */
export async function issuerKey(issuer: string): Promise<IssuerKey> {
  const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as {
    keys: readonly IssuerKey[];
  };
  const key = keys.find(({ kty }) => kty === 'EC');
  if (key === undefined) throw new Error('the issuer has no key for ES256');
  return key;
}

/** The key in PEM, as SubjectPublicKeyInfo. */
export const pem = (jwk: IssuerKey) =>
  createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ type: 'spki', format: 'pem' });

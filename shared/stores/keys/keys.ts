/** A stored signing key. The private part is sealed under the master secret. */
export interface StoredKey {
  readonly kid: string;
  readonly alg: 'ES256' | 'RS256' | 'EdDSA';
  /** Public JWK (RFC 7517), published at the JWKS. */
  readonly publicJwk: Readonly<Record<string, unknown>>;
  /** Private JWK, sealed (shared/keys/seal.ts). */
  readonly sealed: string;
  /** Milliseconds since the epoch, from when the JWKS has the key. */
  readonly publishedAt: number;
  /** Milliseconds since the epoch, from when the key signs, until a newer key of its alg signs. */
  readonly signsFrom: number;
}

/** The two tables of keys in `Stores`. No process looks for a key of one table in the other. */
export type KeyTable = 'keys' | 'gatewayKeys';

/** Keys with which all processes of a server sign. The rows and the clock decide which key signs. */
export interface Keys {
  list(): Promise<readonly StoredKey[]>;
  /** Adds a key. False: a key with the alg `unlessOneOf` exists (two processes start for the first time). */
  add(key: StoredKey, unlessOneOf?: StoredKey['alg']): Promise<boolean>;
  remove(kid: string): Promise<void>;
}

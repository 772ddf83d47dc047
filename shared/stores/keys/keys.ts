/** A key that signs, as it is stored; the private part is sealed under the master secret. */
export interface StoredKey {
  readonly kid: string;
  readonly alg: 'ES256' | 'RS256' | 'EdDSA';
  /** Public JWK (RFC 7517), published at the JWKS. */
  readonly publicJwk: Readonly<Record<string, unknown>>;
  /** Private JWK, sealed (shared/keys/seal.ts). */
  readonly sealed: string;
  /** Milliseconds since the epoch: in the JWKS from then on. */
  readonly publishedAt: number;
  /** Milliseconds since the epoch: signs from then on, until a successor of its alg does. */
  readonly signsFrom: number;
}

/** The two of them in `Stores`: no process looks for a key of one in the other. */
export type KeyTable = 'keys' | 'gatewayKeys';

/** Keys that all processes of a server sign with. Which of them signs when follows from the rows and the clock. */
export interface Keys {
  list(): Promise<readonly StoredKey[]>;
  /** Adds a key; false when `unlessOneOf` names an alg that has a key already (first start of two processes at once). */
  add(key: StoredKey, unlessOneOf?: StoredKey['alg']): Promise<boolean>;
  remove(kid: string): Promise<void>;
}

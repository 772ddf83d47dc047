import type { TokenType } from '#shared/private-token/token-types.ts';

/** A key of the token issuer as it is stored; used for nothing else. */
export interface StoredTokenKey {
  readonly type: TokenType;
  /** `token_key_id` in base64url without padding. Its last octet is in no two rows of a type. */
  readonly id: string;
  /** Encoded as in the issuer directory, in base64url without padding. */
  readonly publicKey: string;
  /** The private key, sealed (shared/keys/seal.ts); absent once it is retired. */
  readonly sealed?: string;
  /** Milliseconds since the epoch, of whole seconds: it issues from then on. */
  readonly notBefore: number;
  /**
   * Milliseconds since the epoch, of whole seconds: no token of it is good from then on. Fixed with the
   * key, since spent tokens are remembered until then, whatever becomes of the configuration.
   */
  readonly until: number;
  /** Identity of the store's memory when it was made; of another one it is retired. */
  readonly epoch: string;
}

/**
 * The keys of the token issuer, shared by all processes. Which of them is good for what follows from the
 * rows and the clock. A retired key stays as a row without its private part, so that its truncated id is
 * not given away again.
 */
export interface TokenKeys {
  /** In the order in which they were added. */
  list(): Promise<readonly StoredTokenKey[]>;
  /**
   * Adds a key behind the newest of its type, of which `newest` is the id (undefined: there is none): the
   * last of that type in the list, whatever its `notBefore` and its epoch. `late`: another process was
   * faster. `collides`: a row of the type, perhaps of a retired key, has its truncated id.
   */
  add(key: StoredTokenKey, newest: string | undefined): Promise<'added' | 'collides' | 'late'>;
  /** Forgets the private part of a key; no error if there is none. */
  retire(type: TokenType, id: string): Promise<void>;
  /** Makes void whatever was fetched of the keys before, by whom and when ever. */
  recall(): Promise<void>;
  /** How often they were recalled. */
  recalls(): Promise<number>;
  /** Forgets the row, and with it the truncated id; no error if there is none. */
  remove(type: TokenType, id: string): Promise<void>;
}

import type { TokenType } from '#shared/private-token/token-types.ts';

/** A stored key of the token issuer, which has no other use. */
export interface StoredTokenKey {
  readonly type: TokenType;
  /** `token_key_id` in base64url without padding. No two keys of a type have the same last octet. */
  readonly id: string;
  /** Encoded as in the issuer directory, in base64url without padding. */
  readonly publicKey: string;
  /** The private key, sealed (shared/keys/seal.ts); absent in a retired key. */
  readonly sealed?: string;
  /** Milliseconds since the epoch, of whole seconds, from when the key issues tokens. */
  readonly notBefore: number;
  /**
   * Milliseconds since the epoch, from when no token of the key is valid. It never changes: spent tokens are kept so
   * long.
   */
  readonly until: number;
  /** The epoch of the store when the key was made. With another epoch the key is retired. */
  readonly epoch: string;
}

/**
 * The keys of the token issuer, in all processes. A retired key stays without its private part, to keep its truncated
 * id.
 */
export interface TokenKeys {
  /** Returns the keys in the order in which they were added. */
  list(): Promise<readonly StoredTokenKey[]>;
  /**
   * Adds a key after the newest key of its type, which has the id `newest` (undefined: no key), whatever its
   * `notBefore` and epoch. `late`: another process was faster. `collides`: a key of the type, perhaps retired, has the
   * truncated id.
   */
  add(key: StoredTokenKey, newest: string | undefined): Promise<'added' | 'collides' | 'late'>;
  /** Removes the private part of a key, if the key exists. */
  retire(type: TokenType, id: string): Promise<void>;
  /** Invalidates all fetched copies of the keys. */
  recall(): Promise<void>;
  /** The number of recalls. */
  recalls(): Promise<number>;
  /** Removes a key, and so its truncated id, if the key exists. */
  remove(type: TokenType, id: string): Promise<void>;
}

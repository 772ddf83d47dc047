import { createHash } from 'node:crypto';
import type { TokenType } from './token-types.ts';

/** A public key of an issuer as an origin knows it. */
export interface TokenKey {
  readonly type: TokenType;
  /**
   * The key in the encoding of its type: a compressed point (RFC 9497 section 4.4) or an SPKI (RFC 9578 section 6.5).
   */
  readonly publicKey: Buffer;
  /** `token_key_id`: SHA-256 of the encoded key, 32 octets. */
  readonly id: Buffer;
}

/** A key pair of an issuer. */
export interface TokenKeyPair extends TokenKey {
  /** VOPRF: the scalar. Blind RSA: PKCS #8 in DER. */
  readonly privateKey: Buffer;
}

/** Returns `token_key_id` (RFC 9578 sections 5.5 and 6.5). */
export function tokenKeyId(publicKey: Uint8Array): Buffer {
  return createHash('sha256').update(publicKey).digest();
}

/** Returns `truncated_token_key_id`: the least significant octet of the id. */
export function truncatedKeyId(id: Uint8Array): number {
  const last = id.at(-1);
  if (last === undefined) throw new TypeError('a key id has 32 octets');
  return last;
}

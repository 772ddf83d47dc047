import { TOKEN_TYPES, type TokenType, tokenType } from './token-types.ts';

/** A Token (RFC 9577 section 2.2.1). */
export interface Token {
  readonly type: TokenType;
  readonly nonce: Buffer;
  readonly challengeDigest: Buffer;
  readonly keyId: Buffer;
  readonly authenticator: Buffer;
  /** `AuthenticatorInput` (section 2.2.3): the token without its authenticator, which is computed over it. */
  readonly input: Buffer;
}

const NONCE = 2;
const DIGEST = NONCE + 32;
const KEY_ID = DIGEST + 32;
const AUTHENTICATOR = KEY_ID + 32;

/** Returns `AuthenticatorInput`; a Token consists of this and the authenticator. */
export function tokenInput(
  type: TokenType,
  nonce: Uint8Array,
  digest: Uint8Array,
  keyId: Uint8Array,
): Buffer {
  return Buffer.concat([Buffer.of(type >> 8, type & 0xff), nonce, digest, keyId], AUTHENTICATOR);
}

/** Parses a token. Returns undefined for an unknown type, and unless the token has the exact length of its type. */
export function parseToken(bytes: Uint8Array): Token | undefined {
  const copy = Buffer.from(bytes);
  const type = copy.length < AUTHENTICATOR ? undefined : tokenType(copy.readUInt16BE());
  if (type === undefined) return undefined;
  if (copy.length !== AUTHENTICATOR + TOKEN_TYPES[type].authenticator) return undefined;
  return {
    type,
    nonce: copy.subarray(NONCE, DIGEST),
    challengeDigest: copy.subarray(DIGEST, KEY_ID),
    keyId: copy.subarray(KEY_ID, AUTHENTICATOR),
    authenticator: copy.subarray(AUTHENTICATOR),
    input: copy.subarray(0, AUTHENTICATOR),
  };
}

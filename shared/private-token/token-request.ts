import { TOKEN_TYPES, type TokenType, tokenType } from './token-types.ts';

/** A TokenRequest (RFC 9578 sections 5.1 and 6.1). */
export interface TokenRequest {
  readonly type: TokenType;
  /** `truncated_token_key_id`: the last octet of the key's id. */
  readonly truncatedKeyId: number;
  /** `blinded_msg`. */
  readonly blinded: Buffer;
}

const BLINDED = 3;

export function encodeTokenRequest({ type, truncatedKeyId, blinded }: TokenRequest): Buffer {
  return Buffer.concat([Buffer.of(type >> 8, type & 0xff, truncatedKeyId), blinded]);
}

/**
 * Parses a request. Returns undefined for an unknown type, and unless the request has the exact length of its type.
 */
export function parseTokenRequest(bytes: Uint8Array): TokenRequest | undefined {
  const copy = Buffer.from(bytes);
  const type = copy.length < BLINDED ? undefined : tokenType(copy.readUInt16BE());
  if (type === undefined || copy.length !== BLINDED + TOKEN_TYPES[type].blinded) return undefined;
  return { type, truncatedKeyId: copy.readUInt8(2), blinded: copy.subarray(BLINDED) };
}

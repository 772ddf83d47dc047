/** A client's result (RFC 7486 section 2, HOBA-RES). */
export interface Result {
  /** The key's id, as it is signed. */
  readonly kid: string;
  readonly challenge: string;
  readonly nonce: string;
  readonly signature: Buffer;
}

/**
 * Figure 1 allows `=` in base64url, and its example has it in some parts only. So the parts that a client encodes may
 * have it; the challenge is ours and comes back unchanged. The longest signature is that of a key of 16,384 bits.
 */
const RESULT = /^([\w-]{1,64}={0,2})\.([\w-]{1,128})\.([\w-]{1,128}={0,2})\.([\w-]{1,2731}={0,2})$/;

/** Parses a result. Returns undefined if it is malformed. */
export function parseResult(text: string): Result | undefined {
  const [, kid = '', challenge = '', nonce = '', sent = ''] = RESULT.exec(text) ?? [];
  const signature = decodeBase64url(sent);
  return signature && { kid, challenge, nonce, signature };
}

/** Decodes base64url. Returns undefined for no bytes, and for spare bits that are not zero (RFC 4648 section 3.5). */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const right = bytes.length > 0 && bytes.toString('base64url') === unpadded(text);
  return right ? bytes : undefined;
}

export function unpadded(text: string): string {
  return text.replace(/(?<!=)=+$/, ''); // tried once per run of `=`, so that the time is linear
}

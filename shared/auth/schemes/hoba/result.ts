/** A client's result (RFC 7486 section 2, HOBA-RES). */
export interface Result {
  /** The key's id, exactly as the signature covers it. */
  readonly kid: string;
  readonly challenge: string;
  readonly nonce: string;
  readonly signature: Buffer;
}

/**
 * Figure 1 allows `=` in base64url, and its example has it in some parts only. So the parts that a client encodes may
 * have it. The challenge comes back as the server sent it, without `=`. The longest signature is that of a 16,384-bit
 * key.
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
  return text.replace(/(?<!=)=+$/, ''); // each run of `=` is tried once, so that the time is linear
}

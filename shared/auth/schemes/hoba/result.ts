/** What a client sends (RFC 7486 section 2, HOBA-RES). */
export interface Result {
  /** As it is signed. */
  readonly kid: string;
  readonly challenge: string;
  readonly nonce: string;
  readonly signature: Buffer;
}

/**
 * Figure 1 allows `=` in what is base64url, and its example has it in some parts and not in others. So what a
 * client encodes may have it; the challenge is ours, and comes back as it is. A key of 16,384 bits signs so much.
 */
const RESULT = /^([\w-]{1,64}={0,2})\.([\w-]{1,128})\.([\w-]{1,128}={0,2})\.([\w-]{1,2731}={0,2})$/;

/** Undefined when it is malformed. */
export function parseResult(text: string): Result | undefined {
  const [, kid = '', challenge = '', nonce = '', sent = ''] = RESULT.exec(text) ?? [];
  const signature = decodeBase64url(sent);
  return signature && { kid, challenge, nonce, signature };
}

/** Undefined for no bytes, and for spare bits that are not zero (RFC 4648 section 3.5). */
function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const right = bytes.length > 0 && bytes.toString('base64url') === unpadded(text);
  return right ? bytes : undefined;
}

export function unpadded(text: string): string {
  return text.replace(/(?<!=)=+$/, ''); // tried once for a row of them: the time is linear
}

import type { Result } from './result.ts';

/** RSA-SHA256, the only algorithm that is accepted (RFC 7486 sections 7 and 9.3). */
const ALG = '0';

export interface Signed extends Pick<Result, 'kid' | 'challenge' | 'nonce'> {
  readonly origin: string;
}

/** Returns HOBA-TBS (RFC 7486 section 2), without a realm, since a key is for a whole origin. */
export function toBeSigned({ kid, challenge, nonce, origin }: Signed): Buffer {
  const fields = [nonce, ALG, withPort(origin), '', kid, challenge];
  return Buffer.from(fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join(''));
}

/** Returns the origin with its port, even if it is the default port (RFC 7486 section 2). */
function withPort(origin: string): string {
  return new URL(origin).port === '' ? `${origin}:443` : origin;
}

import { hash } from 'node:crypto';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';

/** Qualities of protection (RFC 7616 section 3.3). */
export type Qop = 'auth' | 'auth-int';

/** The values that a digest covers, besides the secret and the content. */
export interface Signed {
  readonly method: string;
  readonly uri: string;
  readonly nonce: string;
  readonly nc: string;
  readonly cnonce: string;
  readonly qop: Qop;
}

/** A2 (RFC 7616 section 3.4.3), for each quality of protection. */
const A2: Readonly<Record<Qop, (signed: Signed, content: string) => string>> = {
  auth: ({ method, uri }) => `${method}:${uri}`,
  'auth-int': ({ method, uri }, content) => `${method}:${uri}:${content}`,
};

/**
 * Returns `response` (RFC 7616 section 3.4.1) in lower-case hexadecimal. `ha1` is H(name:realm:password); `content`
 * is the digest of the content, which only auth-int uses.
 */
export function digestResponse(
  algorithm: DigestAlgorithmName,
  ha1: string,
  signed: Signed,
  content?: Buffer,
): string {
  const { crypto, session } = DIGEST_ALGORITHMS[algorithm];
  const h = (data: string) => hash(crypto, data, 'hex');
  const { nonce, nc, cnonce, qop } = signed;
  // Section 3.4.2: with -sess, A1 contains the first nonce and cnonce. curl and Apache HttpClient keep their cnonce
  // as long as the nonce. The remaining clients renew the cnonce, and A1 with it. So the server need not remember the
  // first cnonce.
  const secret = session ? h(`${ha1}:${nonce}:${cnonce}`) : ha1;
  const a2 = A2[qop](signed, content?.toString('hex') ?? '');
  return h(`${secret}:${nonce}:${nc}:${cnonce}:${qop}:${h(a2)}`);
}

/**
 * Returns `rspauth` (RFC 7616 section 3.5): like `response`, but without the method, and over the content of the
 * answer.
 */
export function digestRspauth(
  algorithm: DigestAlgorithmName,
  ha1: string,
  signed: Signed,
  content?: Buffer,
): string {
  return digestResponse(algorithm, ha1, { ...signed, method: '' }, content);
}

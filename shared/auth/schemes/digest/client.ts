import { createHash, hash } from 'node:crypto';
import {
  DIGEST_ALGORITHMS,
  type DigestAlgorithmName,
} from '#shared/http/auth/digest-algorithms.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { digestResponse, digestRspauth, type Qop } from './response.ts';

/** The parts of a request that a client of Digest proves. */
export interface DigestRequest {
  readonly name: string;
  readonly password: string;
  readonly method: string;
  /** The request target. */
  readonly uri: string;
  readonly qop: Qop;
  /** How many times the client has used the nonce, including this request. */
  readonly count: number;
  readonly cnonce: string;
  readonly content?: string;
}

/** Parameters that are written without quotes (RFC 7616 section 3.4). */
const UNQUOTED: ReadonlySet<string> = new Set(['algorithm', 'qop', 'nc']);

/**
 * Returns the credentials of a client that supports Digest (RFC 7616 section 3.4) for a challenge. Also returns a
 * function for the `rspauth` that a server with the password sends (section 3.5), given the content of its answer.
 * Name and password are ASCII.
 */
export function digestCredentials(
  { realm = '', nonce = '', opaque, algorithm: named = 'MD5' }: AuthParams,
  { name, password, method, uri, qop, count, cnonce, content = '' }: DigestRequest,
) {
  const algorithm = named as DigestAlgorithmName;
  const { crypto } = DIGEST_ALGORITHMS[algorithm];
  const digestOf = (text: string) => createHash(crypto).update(text).digest();
  const ha1 = hash(crypto, `${name}:${realm}:${password}`, 'hex');
  const nc = count.toString(16).padStart(8, '0');
  const signed = { method, uri, nonce, nc, cnonce, qop };
  const response = digestResponse(algorithm, ha1, signed, digestOf(content));
  const params = { username: name, realm, uri, algorithm, nonce, nc, cnonce, qop, response };
  const written = Object.entries({ ...params, ...(opaque !== undefined && { opaque }) }).map(
    ([member, value]) =>
      UNQUOTED.has(member)
        ? `${member}=${value}`
        : `${member}="${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  );
  return {
    authorization: `Digest ${written.join(', ')}`,
    rspauth: (answer: string) => digestRspauth(algorithm, ha1, signed, digestOf(answer)),
  };
}

import { createHash } from 'node:crypto';

/** The algorithms' names in RFC 7616 section 3.7 and in node:crypto. */
const HASHES = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const;
const SESSION = '-sess';

type Hash = keyof typeof HASHES;
export type DigestAlgorithm = Hash | `${Hash}-sess`;

/** A client's claims about a request, which the response proves. */
export interface Claims {
  readonly algorithm: DigestAlgorithm;
  /** The plain name, even if its hash is sent. */
  readonly username: string;
  readonly realm: string;
  readonly nonce: string;
  readonly uri: string;
  /** Undefined makes the response of RFC 2069, which a server of RFC 7616 must refuse. */
  readonly qop: string | undefined;
  /** Eight hexadecimal digits. */
  readonly nc: string;
  readonly cnonce: string;
}

export function isAlgorithm(name: string): name is DigestAlgorithm {
  return Object.hasOwn(HASHES, hashName(name));
}

export function isSession(algorithm: DigestAlgorithm): boolean {
  return algorithm.endsWith(SESSION);
}

/** H(data) of RFC 7616 section 3.3, in lower-case hexadecimal. */
export function H(algorithm: DigestAlgorithm, data: string | Buffer): string {
  return createHash(HASHES[hashName(algorithm) as Hash])
    .update(data)
    .digest('hex');
}

/** H(A1) for algorithms without -sess (RFC 7616 section 3.4.2). */
export function passwordKey(claims: Claims, password: string): string {
  return H(claims.algorithm, `${claims.username}:${claims.realm}:${password}`);
}

/** H(A1) for -sess algorithms, from the session's first nonce and cnonce (RFC 7616 section 3.4.2). */
export function sessionKey(claims: Claims, password: string): string {
  const { algorithm, nonce, cnonce } = claims;
  return H(algorithm, `${passwordKey(claims, password)}:${nonce}:${cnonce}`);
}

/**
 * The response of RFC 7616 section 3.4.1, over A2 of section 3.4.3. With an empty method it is the rspauth
 * of section 3.5. `content` is used for auth-int only. `key` is H(A1).
 */
export function responseOf(key: string, claims: Claims, method: string, content: Buffer): string {
  const { algorithm, uri, nonce, nc, cnonce, qop } = claims;
  const integrity = qop === 'auth-int' ? [H(algorithm, content)] : [];
  const a2 = H(algorithm, [method, uri, ...integrity].join(':'));
  const parts = qop === undefined ? [key, nonce, a2] : [key, nonce, nc, cnonce, qop, a2];
  return H(algorithm, parts.join(':'));
}

/** The value of `username` with userhash=true (RFC 7616 section 3.4.4). */
export function userhashOf({ algorithm, username, realm }: Claims): string {
  return H(algorithm, `${username}:${realm}`);
}

function hashName(name: string): string {
  return name.endsWith(SESSION) ? name.slice(0, -SESSION.length) : name;
}

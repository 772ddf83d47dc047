import { hash, type KeyObject } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { importPublicJwk } from './algorithms.ts';
import { isObject, type JwsRefusal, parseCompactJws } from './compact-jws.ts';
import { holdsPrivateKey } from './private-members.ts';
import { thumbprint } from './thumbprint.ts';
import { remembering } from '#shared/base/recent-map.ts';

export interface ExpectedProof {
  readonly method: string;
  /**
   * The URI, made of the configured origin and the path of the request, never of the Host field. A query is ignored.
   */
  readonly htu: string;
  /** The token that accompanies the proof; `ath` must be its hash. */
  readonly accessToken?: string;
  /** The thumbprint that the token is bound to (RFC 9449 section 6.1). */
  readonly jkt?: string;
  /** Seconds since the epoch. */
  readonly now: number;
  /** Seconds by which `iat` may be earlier or later than `now`. */
  readonly window: number;
  /**
   * Present at a server that asks for nonces. Returns the reason for which it refuses a nonce, or undefined. An
   * accepted nonce dates the proof instead of `iat` (RFC 9449 section 11.1), so that a client with a wrong clock is
   * served, too.
   */
  refusesNonce?(nonce: string | undefined): Refusal | undefined;
}

/** The error code of RFC 9449 sections 7.1 and 9. */
export type ProofError = 'invalid_dpop_proof' | 'use_dpop_nonce' | 'invalid_token';

export type ProofRefusal = JwsRefusal & { readonly error: ProofError };

export interface CheckedProof {
  readonly ok: true;
  readonly jti: string;
  readonly jkt: string;
  readonly iat: number;
  readonly nonce: string | undefined;
}

/**
 * Imported keys by thumbprint, since importing a key costs as much as checking a signature. The cache must be bounded.
 */
export interface KeyCache {
  get(jkt: string): KeyObject | undefined;
  set(jkt: string, key: KeyObject): void;
}

const LONGEST_JTI = 256;

const refused = (refusal: Refusal, error: ProofError = 'invalid_dpop_proof'): ProofRefusal => ({
  ok: false,
  ...refusal,
  error,
});

const sha256 = (text: string) => hash('sha256', text, 'base64url');

/**
 * Checks a DPoP proof by the numbered list of RFC 9449 section 4.3. The caller must check that the request has only
 * one DPoP field (number 1), and that `jti` is new (section 11.1).
 */
export function checkDpopProof(
  proof: string,
  expected: ExpectedProof,
  keys: KeyCache,
): CheckedProof | ProofRefusal {
  // Check 2: a single well-formed JWT. Check 5: alg is asymmetric and on the allow-list.
  const jws = parseCompactJws(proof);
  if (!jws.ok) return refused({ refusal: jws.refusal, reason: jws.reason });
  const { algorithm, header, payload } = jws;
  const { jwk } = header;
  const { jti, htm, htu, iat, ath } = payload;
  const nonce = typeof payload['nonce'] === 'string' ? payload['nonce'] : undefined;

  // Check 3: the required claims are present.
  if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_JTI) {
    return refused(refuse('proof-jti', { most: LONGEST_JTI }));
  }
  if (typeof htm !== 'string' || typeof htu !== 'string') return refused(refuse('proof-htm-htu'));
  if (typeof iat !== 'number') return refused(refuse('proof-iat'));

  // Check 4: the type, so that a JWT made for another purpose is refused.
  if (header['typ'] !== 'dpop+jwt') return refused(refuse('proof-typ'));

  // Check 7: the key is a public key only.
  if (!isObject(jwk)) return refused(refuse('proof-jwk'));
  if (holdsPrivateKey(jwk)) return refused(refuse('proof-jwk-private'));

  // Check 6: the signature verifies with that key.
  const jkt = thumbprint(jwk, algorithm);
  const key = keys.get(jkt) ?? importPublicJwk(jwk, algorithm);
  if (key === undefined || !algorithm.fits(key)) return refused(refuse('proof-jwk-alg'));
  if (!algorithm.verify(jws.signingInput, key, jws.signature))
    return refused(refuse('proof-signature'));
  keys.set(jkt, key);

  // Checks 8 and 9: the proof is for this method and this URI.
  if (htm !== expected.method) return refused(refuse('proof-htm', { method: expected.method }));
  const target = normaliseTargetUri(expected.htu);
  if (target === undefined || normaliseTargetUri(htu) !== target) {
    return refused(refuse('proof-htu', { uri: target ?? expected.htu }));
  }

  // Check 12: the proof is for this token, which is bound to this key.
  const { accessToken } = expected;
  const isHash = (token: string) => typeof ath === 'string' && sameText(ath, sha256(token));
  if (accessToken !== undefined && !isHash(accessToken)) {
    return refused(refuse('proof-ath'));
  }
  if (expected.jkt !== undefined && !sameText(jkt, expected.jkt)) {
    return refused(refuse('proof-jkt'), 'invalid_token');
  }

  // Checks 10 and 11: the proof has a nonce of this server, or a recent `iat`.
  const { now, window, refusesNonce } = expected;
  if (refusesNonce === undefined) {
    const apart = Math.abs(now - iat);
    if (apart > window) return refused(refuse('proof-time', { apart, window }));
  } else {
    const why = refusesNonce(nonce);
    if (why !== undefined) return refused(why, 'use_dpop_nonce');
  }
  return { ok: true, jti, jkt, iat, nonce };
}

const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * Normalizes an http or https URI by syntax and scheme (RFC 3986 sections 6.2.2 and 6.2.3) and removes its query and
 * fragment, so that two spellings of `htu` are equal (RFC 9449 section 4.3). Returns undefined if it is not such a
 * URI.
 */
export const normaliseTargetUri = remembering(
  (uri): string | undefined => {
    // The URL parser would accept other characters: it drops tabs and turns a backslash into a slash.
    if (!/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(uri)) return undefined;
    const url = URL.parse(uri);
    if (url === null || url.username !== '' || url.password !== '') return undefined;
    const path = url.pathname.replaceAll(/%[0-9A-Fa-f]{2}/g, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return UNRESERVED.test(character) ? character : octet.toUpperCase();
    });
    return url.origin + path;
  },
  { capacity: 1000, longest: 512 },
);

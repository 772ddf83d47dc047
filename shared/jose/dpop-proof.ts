import { hash, type KeyObject } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import { importPublicJwk } from './algorithms.ts';
import { isObject, parseCompactJws, type JwsRefusal } from './compact-jws.ts';
import { holdsPrivateKey } from './private-members.ts';
import { normaliseTargetUri } from './target-uri.ts';
import { thumbprint } from './thumbprint.ts';

export interface ExpectedProof {
  readonly method: string;
  /** The configured origin and the path of the request, never from the Host field. A query is ignored. */
  readonly htu: string;
  /** The token that comes with the proof; its hash must be `ath`. */
  readonly accessToken?: string;
  /** The thumbprint that the token is bound to (RFC 9449 section 6.1). */
  readonly jkt?: string;
  /** Seconds since the epoch. */
  readonly now: number;
  /** Seconds by which `iat` may differ from `now`, either way. */
  readonly window: number;
  /**
   * Given by a server that asks for nonces. It returns why it does not take this one, or undefined. The nonce then
   * dates the proof in place of `iat` (RFC 9449 section 11.1), so that a client with a wrong clock is served too.
   */
  refusesNonce?(nonce: string | undefined): string | undefined;
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

const refuse = (reason: string, error: ProofError = 'invalid_dpop_proof'): ProofRefusal => ({
  ok: false,
  reason,
  error,
});

const sha256 = (text: string) => hash('sha256', text, 'base64url');

/**
 * Checks a DPoP proof by the list of RFC 9449 section 4.3, whose numbers stand at each step. The caller has to check
 * that there is only one DPoP field (1) and that `jti` is new (section 11.1).
 */
export function checkDpopProof(
  proof: string,
  expected: ExpectedProof,
  keys: KeyCache,
): CheckedProof | ProofRefusal {
  // 2. a single well-formed JWT; 5. alg is asymmetric and on the allow-list
  const jws = parseCompactJws(proof);
  if (!jws.ok) return refuse(jws.reason);
  const { algorithm, header, payload } = jws;
  const { jwk } = header;
  const { jti, htm, htu, iat, ath } = payload;
  const nonce = typeof payload['nonce'] === 'string' ? payload['nonce'] : undefined;

  // 3. the required claims
  if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_JTI) {
    return refuse(`jti is not a string of 1 to ${LONGEST_JTI} characters`);
  }
  if (typeof htm !== 'string' || typeof htu !== 'string') return refuse('htm or htu is missing');
  if (typeof iat !== 'number') return refuse('iat is not a number');

  // 4. the type, so that a JWT made for another purpose does not pass
  if (header['typ'] !== 'dpop+jwt') return refuse('typ is not dpop+jwt');

  // 7. a public key only
  if (!isObject(jwk)) return refuse('jwk is not an object');
  if (holdsPrivateKey(jwk)) return refuse('jwk holds a private key');

  // 6. the signature verifies with that key
  const jkt = thumbprint(jwk, algorithm);
  const key = keys.get(jkt) ?? importPublicJwk(jwk, algorithm);
  if (key === undefined || !algorithm.fits(key)) return refuse('jwk is not a key for alg');
  if (!algorithm.verify(jws.signingInput, key, jws.signature)) return refuse('signature is wrong');
  keys.set(jkt, key);

  // 8. and 9. for this method and this URI
  if (htm !== expected.method) return refuse(`htm is another method than ${expected.method}`);
  const target = normaliseTargetUri(expected.htu);
  if (target === undefined || normaliseTargetUri(htu) !== target) {
    return refuse(`htu is another URI than ${target ?? expected.htu}`);
  }

  // 12. for this token, which is bound to this key
  const { accessToken } = expected;
  const isHash = (token: string) => typeof ath === 'string' && sameText(ath, sha256(token));
  if (accessToken !== undefined && !isHash(accessToken)) {
    return refuse('ath is the hash of another token');
  }
  if (expected.jkt !== undefined && !sameText(jkt, expected.jkt)) {
    return refuse('the token is bound to another key', 'invalid_token');
  }

  // 10. and 11. a nonce of ours, or a recent `iat`
  const { now, window, refusesNonce } = expected;
  if (refusesNonce === undefined) {
    const apart = Math.abs(now - iat);
    if (apart > window)
      return refuse(`iat is ${apart} s from the time here, not within ${window} s`);
  } else {
    const why = refusesNonce(nonce);
    if (why !== undefined) return refuse(why, 'use_dpop_nonce');
  }
  return { ok: true, jti, jkt, iat, nonce };
}

import type { KeyObject } from 'node:crypto';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import type { AccessTokenClaims } from './access-token-claims.ts';
import { type CompactJws, isObject, parseCompactJws, type JwsRefusal } from './compact-jws.ts';

/** A parsed access token, whose content must not be trusted before `checkAccessToken`. */
export interface ParsedToken extends CompactJws {
  readonly kid: string;
  readonly type: TokenType;
}

/** By this `typ`, a server that supports only OAuth refuses a token of GNAP (RFC 8725 section 3.11). */
export type TokenType = 'at+jwt' | 'gnap-at+jwt';

export interface ExpectedToken {
  /** The issuer, which is compared exactly (RFC 9068 section 4). */
  readonly issuer: string;
  /** Identifiers of the resource; the token must name one of them. */
  readonly audiences: readonly string[];
  /** Seconds since the epoch. */
  readonly now: number;
  /** Tolerated difference of clocks in seconds. */
  readonly skew: number;
}

/** The types of access tokens (RFC 9068 section 2.1, RFC 7515 section 4.1.9). */
const TYPE = /^(?:application\/)?((?:gnap-)?at\+jwt)$/i;

/**
 * Header parameters that name or contain a key. They are refused, since only the issuer's own keys are used (RFC 8725
 * section 3.10).
 */
const FOREIGN_KEYS = ['jku', 'jwk', 'x5u', 'x5c'];

type Claims = AccessTokenClaims;
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isTime: Check = Number.isFinite;
const isScope: Check = (value) => typeof value === 'string';
const isGeneration: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isAudience: Check = (value) =>
  Array.isArray(value) ? value.length > 0 && value.every(isText) : isText(value);
/**
 * Checks of `cnf`, by the type of the token. A token with another kind of binding is refused, not treated as unbound.
 */
const IS_BINDING: Readonly<Record<TokenType, Check>> = {
  'at+jwt': (value) =>
    isObject(value) && Object.keys(value).join() === 'jkt' && isText(value['jkt']),
  'gnap-at+jwt': (value) =>
    isObject(value) &&
    (/^jwk(,proof)?$/.test(Object.keys(value).join())
      ? isObject(value['jwk'])
      : Object.keys(value).join() === 'x5t#S256' && isText(value['x5t#S256'])),
};

const REQUIRED = {
  iss: isText,
  aud: isAudience,
  sub: isText,
  client_id: isText,
  jti: isText,
  iat: isTime,
  exp: isTime,
  client_gen: isGeneration,
  epoch: isText,
} satisfies Partial<Record<keyof Claims, Check>>;

const OPTIONAL: Readonly<Record<Exclude<keyof Claims, keyof typeof REQUIRED>, Check>> = {
  nbf: isTime,
  scope: isScope,
  openid_scope: isScope,
  grant_id: isText,
  sub_gen: isGeneration,
  acr: isText,
  amr: Array.isArray,
  auth_time: isTime,
  access: Array.isArray,
  cnf: isObject,
};

const CHECKS: readonly (readonly [name: string, check: Check])[] = Object.entries({
  ...REQUIRED,
  ...OPTIONAL,
});

/** Returns the known claims, or the name of a claim that is missing or malformed. */
function claimsOf({ payload, type }: ParsedToken): Claims | string {
  const claims: Record<string, unknown> = {};
  for (const [name, check] of CHECKS) {
    const value = payload[name];
    if (value === undefined && name in OPTIONAL) continue;
    if (!check(value)) return name;
    claims[name] = value;
  }
  if ('cnf' in claims && !IS_BINDING[type](claims['cnf'])) return 'cnf';
  // Every member was checked by its row of the table.
  return claims as unknown as Claims;
}

/** Parses a JWT access token and checks its structure and header (RFC 9068 sections 2.1 and 4). */
export function parseAccessToken(token: string): ParsedToken | JwsRefusal {
  const jws = parseCompactJws(token);
  if (!jws.ok) return jws;
  const { typ, kid } = jws.header;
  // An object may have a member toString, so only a string becomes text.
  const [, type] = typeof typ === 'string' ? (TYPE.exec(typ) ?? []) : [];
  if (type === undefined) return refused(refuse('token-typ'));
  const foreign = FOREIGN_KEYS.find((name) => name in jws.header);
  if (foreign !== undefined) return refused(refuse('token-foreign-key', { name: foreign }));
  if (typeof kid !== 'string' || kid === '') return refused(refuse('token-kid'));
  return { ...jws, kid, type: type.toLowerCase() as TokenType };
}

/** True if `aud` (RFC 7519 section 4.1.3) names one of the audiences. */
export function namesAudience(
  aud: AccessTokenClaims['aud'],
  audiences: readonly string[],
): boolean {
  return typeof aud === 'string' ? audiences.includes(aud) : aud.some((a) => audiences.includes(a));
}

/** Returns the refusal of a token that names none of the audiences. It has the last one: an origin with its slash. */
export function otherAudience(
  aud: AccessTokenClaims['aud'],
  audiences: readonly string[],
): Refusal {
  return refuse('token-audience', {
    aud: [aud].flat().join(' '),
    audience: audiences.at(-1) ?? '',
  });
}

/** Returns the refusal of a token after its end; `exp` is in seconds. */
export function expiredAt(exp: number): Refusal {
  const time = new Date(exp * 1000);
  const at = Number.isNaN(time.getTime()) ? `${exp} s` : time.toISOString().replace('.000Z', 'Z');
  return refuse('token-expired', { at });
}

/**
 * Checks the signature and the claims (RFC 9068 section 4, RFC 7519 section 4.1): issuer, audience, `exp`, `nbf` and
 * an `iat` that is not in the future. `key` is the issuer's key with the token's `kid`.
 */
export function checkAccessToken(
  parsed: ParsedToken,
  key: KeyObject,
  expected: ExpectedToken,
): { readonly ok: true; readonly claims: AccessTokenClaims } | JwsRefusal {
  const { algorithm, signingInput, signature } = parsed;
  if (!algorithm.fits(key)) return refused(refuse('token-key-alg'));
  if (!algorithm.verify(signingInput, key, signature)) return refused(refuse('token-signature'));
  return checkClaims(parsed, expected);
}

/** Checks only the claims. They must not be trusted unless the signature is right. */
export function checkClaims(
  parsed: ParsedToken,
  expected: ExpectedToken,
): { readonly ok: true; readonly claims: AccessTokenClaims } | JwsRefusal {
  const claims = claimsOf(parsed);
  if (typeof claims === 'string') return refused(refuse('token-claim', { claim: claims }));
  const { iss, aud, exp } = claims;
  const { issuer, audiences } = expected;
  if (iss !== issuer) return refused(refuse('token-issuer', { iss, issuer }));
  if (!namesAudience(aud, audiences)) return refused(otherAudience(aud, audiences));
  if (expected.now >= exp + expected.skew) return refused(expiredAt(exp));
  const latest = expected.now + expected.skew;
  const begins = Math.max(claims.iat, claims.nbf ?? 0);
  if (begins > latest) return refused(refuse('token-early'));
  return { ok: true, claims };
}

const refused = (refusal: Refusal): JwsRefusal => ({ ok: false, ...refusal });

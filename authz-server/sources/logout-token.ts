import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Clock } from '#shared/base/clock.ts';

/** Seconds by which the clock of a provider may differ. */
const SKEW = 30;
/** Seconds after which a logout token is too old: standards recommend two minutes (section 2.4). */
const MAX_AGE = 300;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Asymmetric algorithms: a token by the client secret could be made by everybody who knows it. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
];
/** Values of `typ`. Section 2.4 recommends the first; older providers send the second or none. */
const TYPES: ReadonlySet<string | undefined> = new Set(['logout+jwt', 'jwt', undefined]);

/** The end of a session at a provider. */
export interface LogoutToken {
  readonly subject: string;
  /** The session there. Absent: all sessions of the person. */
  readonly sid?: string;
  readonly jti: string;
}

/** Thrown for a logout token that is not acceptable; the message says why. */
export class LogoutTokenError extends Error {
  override readonly name = 'LogoutTokenError';
}

/**
 * Validates a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.6). Throws `LogoutTokenError`, and
 * `JWKSNoMatchingKey` if the provider may have newer keys. A token without `sub` is refused: the session alone names no
 * person here.
 */
export async function verifyLogoutToken(
  token: string,
  keys: JSONWebKeySet,
  { issuer, clientId, clock }: { issuer: string; clientId: string; clock: Clock },
): Promise<LogoutToken> {
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
    issuer,
    audience: clientId,
    algorithms: ALGORITHMS,
    clockTolerance: SKEW,
    currentDate: new Date(clock.now()),
    maxTokenAge: MAX_AGE,
    requiredClaims: ['iss', 'aud', 'iat', 'jti', 'events'],
  }).catch((error: unknown) => {
    if (error instanceof errors.JWKSNoMatchingKey || !(error instanceof errors.JOSEError)) {
      throw error;
    }
    throw new LogoutTokenError(error.message);
  });
  const { sub, sid, jti = '', events, nonce } = payload;
  if (!TYPES.has(protectedHeader.typ?.toLowerCase())) throw new LogoutTokenError('wrong typ');
  if (nonce !== undefined) throw new LogoutTokenError('it has a nonce, as only ID tokens have');
  const event = isObject(events) && Object.hasOwn(events, EVENT) ? events[EVENT] : undefined;
  if (!isObject(event)) throw new LogoutTokenError('it has no logout event');
  if (sub === undefined) throw new LogoutTokenError('it has no sub, which this server needs');
  if (sid !== undefined && typeof sid !== 'string') throw new LogoutTokenError('sid is no text');
  return { subject: sub, jti, ...(sid !== undefined && { sid }) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

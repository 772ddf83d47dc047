import { createPublicKey, hash, type KeyObject } from 'node:crypto';
import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { type CompactJws, parseCompactJws } from '#shared/jose/compact-jws.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';

/** An application server that has identified itself (RFC 8292). */
export interface Sender {
  /** The server's public key: base64url of the uncompressed point. */
  readonly key: string;
}

/**
 * Returns the sender that the value of Authorization identifies; undefined if there are no such credentials and the
 * subscription has no key. `audience`: the origin of the push resource. Throws HttpError 401 if the subscription
 * needs a key, and 403 for credentials that are not valid (RFC 8292 section 4.2).
 */
export type Vapid = (
  authorization: string | undefined,
  audience: string,
  key: string | undefined,
) => Sender | undefined;

/** Most seconds for which a token is valid (section 2). */
const LONGEST = 86_400;
/** Most verified tokens that are remembered. */
const REMEMBERED = 5000;

/** Creates the scheme `vapid`. It does not check `sub`, and ignores unknown parameters (section 3). */
export function createVapid({ clock }: { readonly clock: Clock }): Vapid {
  /**
   * When each verified token expires, by a digest of the token: a sender with a key could fill the memory with long
   * tokens.
   */
  const verified = new RecentMap<number>(REMEMBERED);

  /** Returns when a token expires, in seconds since the epoch, if the key signed it for the audience. */
  function expiryOf(token: string, key: string, audience: string): number {
    const digest = hash('sha256', `${audience} ${key} ${token}`, 'base64url');
    const known = verified.get(digest);
    if (known !== undefined) return known;
    const jws = verifiedJws(token, key);
    if ('refusal' in jws) throw invalid(jws);
    const { aud, exp, nbf } = jws.payload;
    const audiences = Array.isArray(aud) ? aud : [aud];
    if (!audiences.includes(audience)) throw invalid(refuse('vapid-aud', { audience }));
    if (exp === undefined) throw invalid(refuse('vapid-exp-missing'));
    if (typeof exp !== 'number') throw invalid(refuse('vapid-exp'));
    if (nbf !== undefined && typeof nbf !== 'number') throw invalid(refuse('vapid-nbf'));
    // RFC 7519 section 4.1.5: a token with nbf stays valid from then until `exp`, so only its end is remembered.
    if (nbf !== undefined && nbf > epochSeconds(clock)) throw invalid(refuse('vapid-early'));
    verified.set(digest, exp);
    return exp;
  }

  return (authorization, audience, restricted) => {
    const credentials = authorization === undefined ? undefined : parseCredentials(authorization);
    const scheme = credentials?.scheme ?? authorization?.split(' ', 1)[0]?.toLowerCase();
    if (scheme === 'webpush') {
      throw invalid(refuse('vapid-webpush'));
    }
    if (scheme !== 'vapid') {
      if (restricted === undefined) return undefined;
      throw missing();
    }
    const shown = readVapid(credentials?.params ?? {});
    if ('refusal' in shown) throw invalid(shown);
    const { token, key } = shown;
    if (restricted !== undefined && key !== restricted) {
      throw invalid(refuse('vapid-key'));
    }
    const exp = expiryOf(token, key, audience);
    const now = epochSeconds(clock);
    if (exp <= now) throw invalid(refuse('vapid-expired'));
    if (exp > now + LONGEST) throw invalid(refuse('vapid-long'));
    return { key };
  };
}

/** Reads the token and the key of the credentials, or returns the reason for which they are not well-formed. */
export function readVapid({
  t,
  k,
}: AuthParams): { readonly token: string; readonly key: string } | Refusal {
  if (t === undefined || k === undefined) return refuse('vapid-params');
  const key = p256Point(k);
  return key === undefined ? refuse('vapid-k') : { token: t, key };
}

/** Returns the token if the key has signed it, otherwise the reason. */
export function verifiedJws(token: string, key: string): CompactJws | Refusal {
  const jws = parseCompactJws(token);
  if (!jws.ok) return refuse('vapid-jwt', { why: jws.reason });
  if (jws.algorithm.alg !== 'ES256') return refuse('vapid-alg');
  const isSigned = jws.algorithm.verify(jws.signingInput, importPoint(key), jws.signature);
  return isSigned ? jws : refuse('vapid-signature');
}

const missing = () =>
  Object.assign(
    new HttpError(
      401,
      'This subscription is for one application server: send Authorization: vapid t=JWT, k=KEY (RFC 8292).',
      { 'WWW-Authenticate': formatChallenge({ scheme: 'vapid' }) },
    ),
    { refusal: refuse('vapid-none') },
  );

const invalid = (refusal: Refusal) =>
  Object.assign(new HttpError(403, `The vapid credentials are not valid: ${refusal.reason}.`), {
    refusal,
  });

/** The first byte of an uncompressed point, before both coordinates (section 3.2). */
const UNCOMPRESSED = 0x04;
const COORDINATE = 32;

/** Returns the text if it is an uncompressed point on P-256 in canonical base64url. */
export function p256Point(text: string): string | undefined {
  const point = Buffer.from(text, 'base64url');
  if (point.length !== 1 + 2 * COORDINATE || point[0] !== UNCOMPRESSED) return undefined;
  if (point.toString('base64url') !== text) return undefined;
  try {
    importPoint(text);
    return text;
  } catch {
    return undefined;
  }
}

/** Throws if the point is not on the curve. */
function importPoint(text: string): KeyObject {
  const point = Buffer.from(text, 'base64url');
  const [x, y] = [point.subarray(1, 1 + COORDINATE), point.subarray(1 + COORDINATE)];
  const jwk = { kty: 'EC', crv: 'P-256', x: x.toString('base64url'), y: y.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

import type { Clock } from '#shared/base/clock.ts';
import { type AuthParams } from '#shared/http/auth/params.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import { canonicalServerName, serverNameOf } from '#shared/private-token/server-name.ts';
import { challengeDigest, parseChallenge } from '#shared/private-token/token-challenge.ts';
import { TOKEN_TYPES, type TokenType, tokenType } from '#shared/private-token/token-types.ts';
import { Failure } from '../arguments/command.ts';
import type { Reply } from '#shared/client/send.ts';

/** A challenge for which a token may be got and redeemed. */
export interface SiteChallenge {
  readonly type: TokenType;
  /** Server name. */
  readonly issuer: string;
  /** The hash of the whole TokenChallenge: a token is good where this is the same (RFC 9577 section 2.1.4). */
  readonly digest: Buffer;
  /** The issuer's key that the site asks for; undefined: whichever the issuer prefers. */
  readonly tokenKey: Buffer | undefined;
  /** Milliseconds since the epoch: the site takes the token until then; undefined: it does not say. */
  readonly until: number | undefined;
}

/**
 * The challenges of a site that may be answered (RFC 9577 section 2.1.3), in its order; those of other
 * schemes and of unknown types are ignored. More than the section asks for, the site's own name has to be in
 * the challenge: a token without one could be spent by the site elsewhere. Throws `Failure` with what is
 * wrong with each when there is none. `wanted`: of this type alone.
 */
export function answerable(
  url: string,
  { status, fields }: Reply,
  clock: Clock,
  wanted?: TokenType,
): readonly [SiteChallenge, ...SiteChallenge[]] {
  if (status !== 401) throw new Failure(`${url} answers ${status}: it asks for no token`);
  const site = serverNameOf(new URL(url).origin);
  const challenges = parseChallenges(fields['www-authenticate'] ?? '');
  if (challenges === undefined) throw new Failure(`the WWW-Authenticate of ${url} is malformed`);
  const read = challenges
    .filter(({ scheme }) => scheme.toLowerCase() === 'privatetoken')
    .map(({ params }) => readChallenge(params ?? {}, site, clock));
  const good = read.filter((one) => typeof one !== 'string');
  const [first, ...others] = good.filter(({ type }) => wanted === undefined || type === wanted);
  if (first !== undefined) return [first, ...others];
  const reasons = new Set(read.filter((one) => typeof one === 'string'));
  const type = wanted === undefined ? '' : ` of type ${TOKEN_TYPES[wanted].name}`;
  const reason = [...reasons].join('; ') || `none asks for a PrivateToken${type}`;
  throw new Failure(`${url} gives no challenge that can be answered: ${reason}`);
}

/** Otherwise what is wrong with it. */
function readChallenge(params: AuthParams, site: string, clock: Clock): SiteChallenge | string {
  const bytes = decodeBase64url(params['challenge'] ?? '');
  const challenge = bytes && parseChallenge(bytes);
  if (bytes === undefined || challenge === undefined) return 'a challenge is malformed';
  const type = tokenType(challenge.type);
  if (type === undefined) return `type ${challenge.type} is unknown`;
  const issuer = canonicalServerName(challenge.issuer);
  if (issuer === undefined) return 'the name of an issuer is malformed';
  if (!challenge.origins.some((name) => name.toLowerCase() === site)) {
    return `a challenge is for ${challenge.origins.join(', ') || 'any site'}, not for ${site} alone`;
  }
  const tokenKey =
    params['token-key'] === undefined ? undefined : decodeBase64url(params['token-key']);
  if (params['token-key'] !== undefined && tokenKey === undefined) return 'a key is malformed';
  const maxAge = /^\d{1,10}$/.test(params['max-age'] ?? '') ? Number(params['max-age']) : undefined;
  return {
    type,
    issuer,
    digest: challengeDigest(bytes),
    tokenKey,
    until: maxAge === undefined ? undefined : clock.now() + maxAge * 1000,
  };
}

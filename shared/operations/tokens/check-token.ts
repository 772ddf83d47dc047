import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import { checkAccessToken, parseAccessToken } from '#shared/jose/access-token.ts';
import { importPublicJwk } from '#shared/jose/algorithms.ts';
import type { JwsRefusal } from '#shared/jose/compact-jws.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import type { Keys } from '#shared/stores/keys/keys.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { refuse } from '#shared/refusals/tokens.ts';

export type CheckedToken =
  | { readonly ok: true; readonly kid: string; readonly claims: AccessTokenClaims }
  | JwsRefusal;

/**
 * Checks whether this pair issued a token, by the keys in its store: signature, issuer, audience and times as a
 * resource server checks them (RFC 9068 section 4). It does not check whether the token was revoked.
 */
export async function checkToken(
  token: string,
  keys: Keys,
  config: Config,
  clock: Clock,
): Promise<CheckedToken> {
  const parsed = parseAccessToken(token);
  if (!parsed.ok) return parsed;
  const stored = (await keys.list()).find(({ kid }) => kid === parsed.kid);
  const key = stored && importPublicJwk(stored.publicJwk, parsed.algorithm);
  if (key === undefined) {
    return { ok: false, ...refuse('token-key-unchecked') };
  }
  const checked = checkAccessToken(parsed, key, {
    issuer: config.issuer,
    audiences: everyTokenSpace(config).map(({ url }) => url),
    now: epochSeconds(clock),
    skew: config.tokens.skew,
  });
  return checked.ok ? { ...checked, kid: parsed.kid } : checked;
}

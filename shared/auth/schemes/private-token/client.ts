import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { decodeBase64url, encodePadded } from '#shared/private-token/base64url.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import type { Blinded } from '#shared/private-token/blinded.ts';
import type { DirectoryKey, IssuerDirectory } from '#shared/private-token/issuer-directory.ts';
import { canonicalServerName } from '#shared/private-token/server-name.ts';
import { challengeDigest, parseChallenge } from '#shared/private-token/token-challenge.ts';
import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import { encodeTokenRequest } from '#shared/private-token/token-request.ts';
import { BLIND_RSA, type TokenType, tokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { tokenInput } from '#shared/private-token/token.ts';

/** A challenge for which the client may get and redeem a token. */
export interface SiteChallenge {
  readonly type: TokenType;
  /** Server name. */
  readonly issuer: string;
  /**
   * The hash of the whole TokenChallenge: a token is valid where the challenge has the same hash (RFC 9577 section
   * 2.1.4).
   */
  readonly digest: Buffer;
  /** The issuer's key that the site asks for; undefined: the key that the issuer prefers. */
  readonly tokenKey: Buffer | undefined;
  /** Milliseconds since the epoch until which the site accepts the token; undefined if the site does not say. */
  readonly until: number | undefined;
}

/**
 * Reads the PrivateToken challenges of a WWW-Authenticate field (RFC 9577 section 2.1.3), in their order. A challenge
 * that the client must not answer becomes a text with the reason. Returns undefined if the field is malformed. The
 * function is stricter than the RFC: the challenge must name `site`, otherwise the site could spend the token
 * elsewhere.
 */
export const readSiteChallenges = (
  field: string,
  site: string,
  clock: Clock,
): readonly (SiteChallenge | string)[] | undefined =>
  parseChallenges(field)
    ?.filter(({ scheme }) => scheme.toLowerCase() === 'privatetoken')
    .map(({ params }) => readChallenge(params ?? {}, site, clock));

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

/** Returns the keys of a type that issue now, the issuer's preferred key first. */
export const keysInUse = (
  { keys }: IssuerDirectory,
  type: TokenType,
  clock: Clock,
): readonly DirectoryKey[] =>
  keys.filter((key) => key.type === type && (key.notBefore ?? 0) * 1000 <= clock.now());

/**
 * Returns the key with which to get a token; undefined if there is none. A key that the site names is used only if
 * the issuer publishes it for every client. Otherwise the site could mark a person with a key of their own (RFC 9576
 * section 6.2).
 */
export function keyForChallenge(
  { type, tokenKey }: Pick<SiteChallenge, 'type' | 'tokenKey'>,
  directory: IssuerDirectory,
  clock: Clock,
): DirectoryKey | undefined {
  const keys = keysInUse(directory, type, clock);
  return tokenKey === undefined
    ? keys[0]
    : keys.find(({ publicKey }) => publicKey.equals(tokenKey));
}

type Blind = (publicKey: Buffer, input: Uint8Array, random: Random) => Blinded;

/** The client's computation for each type; the library of curves is loaded on first use. */
const BLIND: Readonly<Record<TokenType, () => Promise<Blind>>> = {
  [BLIND_RSA]: async () => blindRsa,
  [VOPRF]: async () => (await import('#shared/private-token/voprf-client.ts')).blindVoprf,
};

/**
 * Makes the request for one token (RFC 9578 sections 5.1 and 6.1). The request reveals nothing about the site, since
 * the challenge's `digest` is blinded. `finalize` returns the token from the issuer's response, or undefined if the
 * key did not sign it.
 */
export async function requestToken(
  { type, id, publicKey }: DirectoryKey,
  digest: Uint8Array,
  random: Random,
): Promise<{
  readonly content: Buffer;
  finalize(response: Uint8Array): Buffer | undefined;
}> {
  const input = tokenInput(type, random(32), digest, id);
  const blind = await BLIND[type]();
  const { blinded, finalize } = blind(publicKey, input, random);
  return {
    content: encodeTokenRequest({ type, truncatedKeyId: truncatedKeyId(id), blinded }),
    finalize(response) {
      const authenticator = finalize(response);
      return authenticator && Buffer.concat([input, authenticator]);
    },
  };
}

/** Returns the credentials that redeem a token (RFC 9577 section 2.2.2). */
export const privateTokenCredentials = (token: Uint8Array): string =>
  `PrivateToken token="${encodePadded(token)}"`;

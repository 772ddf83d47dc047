import { everySpace } from './second-origin.ts';
import type { Config, SpaceConfig } from './schema.ts';

/** A resource for which there are access tokens (RFC 8707). */
export type TokenSpace = Pick<SpaceConfig, 'url' | 'realm' | 'scopes' | 'alg'> &
  Partial<Pick<SpaceConfig, 'allow' | 'documentClients' | 'hide'>>;

/** Opens the endpoint at which tokens for PrivateToken are requested. */
export const REQUEST_SCOPE = 'private-token';
/** Opens the endpoint at which a resource server has them verified. */
export const VERIFY_SCOPE = 'private-token:verify';

/** Opens the endpoint at which the revocations are followed. */
export const FOLLOW_SCOPE = 'revocations:follow';

/** The endpoint at which servers that do not share the store follow the revocations, a resource of its own. */
export function revocationsSpace({ issuer }: Pick<Config, 'issuer'>): TokenSpace {
  return {
    url: `${issuer}/revocations`,
    realm: FOLLOW_SCOPE,
    scopes: { safe: [FOLLOW_SCOPE], unsafe: [FOLLOW_SCOPE] },
    alg: 'ES256',
  };
}

/** Opens what administers this server. */
export const ADMIN_SCOPE = 'admin';
/** Opens what an administrator only reads. */
export const ADMIN_READ_SCOPE = 'admin:read';

/** The endpoints by which this server is administered, one resource. */
export function adminSpace({ issuer }: Pick<Config, 'issuer'>): TokenSpace {
  return {
    url: `${issuer}/admin/api`,
    realm: ADMIN_SCOPE,
    scopes: { safe: [ADMIN_READ_SCOPE], unsafe: [ADMIN_SCOPE] },
    alg: 'ES256',
  };
}

/** The endpoints of the token issuer, each a resource of its own; none without one. */
export function tokenIssuerSpaces({
  privateTokens,
}: Pick<Config, 'privateTokens'>):
  | { readonly request: TokenSpace; readonly verify: TokenSpace }
  | undefined {
  if (privateTokens === undefined) return undefined;
  const space = (path: string, scope: string): TokenSpace => ({
    url: `${privateTokens.issuer}/private-token/${path}`,
    realm: scope,
    scopes: { safe: [scope], unsafe: [scope] },
    alg: 'ES256',
  });
  return { request: space('request', REQUEST_SCOPE), verify: space('verify', VERIFY_SCOPE) };
}

/** Whether a space takes access tokens of OAuth. */
export function takesTokens({ schemes }: Pick<SpaceConfig, 'schemes'>): boolean {
  return schemes.includes('Bearer') || schemes.includes('DPoP');
}

/** A push service answers over TLS alone (RFC 8030 section 8): nobody could use a token for its URL in clear text. */
const isServed = ({ serves, url }: Pick<SpaceConfig, 'serves' | 'url'>): boolean =>
  serves !== 'push' || !url.startsWith('http:');

/** The spaces that take access tokens of OAuth, and after them the endpoints of the token issuer and of this server. */
export function tokenSpaces(
  config: Pick<Config, 'issuer' | 'spaces' | 'resource' | 'tls' | 'privateTokens'>,
): readonly TokenSpace[] {
  const spaces = everySpace(config).filter((space) => takesTokens(space) && isServed(space));
  const ofIssuer = Object.values(tokenIssuerSpaces(config) ?? {});
  return [...spaces, ...ofIssuer, revocationsSpace(config), adminSpace(config)];
}

/** The spaces for which there are access tokens of GNAP (RFC 9635). */
export const gnapSpaces = (config: Parameters<typeof everySpace>[0]) =>
  everySpace(config).filter((space) => space.schemes.includes('GNAP') && isServed(space));

/** Every resource for which there are access tokens, of OAuth or GNAP. */
export const everyTokenSpace = (config: Parameters<typeof tokenSpaces>[0]) =>
  [...tokenSpaces(config), ...gnapSpaces(config)] as const;

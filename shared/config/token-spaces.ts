import { everySpace } from './second-origin.ts';
import type { Config, SpaceConfig } from './schema.ts';

/** A resource for which there are access tokens (RFC 8707). */
export type TokenSpace = Pick<SpaceConfig, 'url' | 'realm' | 'scopes' | 'alg'> &
  Partial<Pick<SpaceConfig, 'allow' | 'documentClients' | 'hide'>>;

/** The scope for requesting tokens of the scheme PrivateToken. */
export const REQUEST_SCOPE = 'private-token';
/** The scope with which a resource server has PrivateToken tokens verified. */
export const VERIFY_SCOPE = 'private-token:verify';

/** The scope for following the feed of revocations. */
export const FOLLOW_SCOPE = 'revocations:follow';

/** Returns the resource of the endpoint with the feed of revocations, for servers that do not share the store. */
export function revocationsSpace({ issuer }: Pick<Config, 'issuer'>): TokenSpace {
  return {
    url: `${issuer}/revocations`,
    realm: FOLLOW_SCOPE,
    scopes: { safe: [FOLLOW_SCOPE], unsafe: [FOLLOW_SCOPE] },
    alg: 'ES256',
  };
}

/** The scopes of endpoints that only machines call. */
export const SCOPES_OF_MACHINES: ReadonlySet<string> = new Set([VERIFY_SCOPE, FOLLOW_SCOPE]);

/** The scope for administering this server. */
export const ADMIN_SCOPE = 'admin';
/** The scope for reading what an administrator may read. */
export const ADMIN_READ_SCOPE = 'admin:read';

/** Returns the one resource that all endpoints for administration share. */
export function adminSpace({ issuer }: Pick<Config, 'issuer'>): TokenSpace {
  return {
    url: `${issuer}/admin/api`,
    realm: ADMIN_SCOPE,
    scopes: { safe: [ADMIN_READ_SCOPE], unsafe: [ADMIN_SCOPE] },
    alg: 'ES256',
  };
}

/** Returns the endpoints of the token issuer, each as a resource of its own. Empty without a token issuer. */
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

/**
 * Whether the space answers at this URL. A push service answers only over TLS (RFC 8030 section 8), so a token for its
 * clear-text URL would be useless.
 */
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

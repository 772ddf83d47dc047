import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Config } from '#shared/config/schema.ts';
import { ASSERTION_ALGORITHMS } from '#shared/jose/algorithms.ts';
import { validated } from '#shared/server/endpoints/validated.ts';
import {
  ADMIN_READ_SCOPE,
  ADMIN_SCOPE,
  FOLLOW_SCOPE,
  tokenSpaces,
  VERIFY_SCOPE,
} from '#shared/config/token-spaces.ts';
import { OPENID_SCOPES, spaceScopes } from '../../resources/resource-indicators.ts';

type Next = () => Promise<unknown>;

/** The ways in which clients authenticate (RFC 7591 section 2). */
export const CLIENT_AUTHENTICATION = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
] as const;

/** The algorithms that may sign the assertions of `private_key_jwt`. */
export const ASSERTION_ALGS = [...ASSERTION_ALGORITHMS.values()].map(({ alg }) => alg);

/**
 * Members that the engine's metadata lacks. Without them clients would assume client_secret_basic only (RFC 8414
 * section 2).
 */
export const ENDPOINT_METADATA = {
  revocation_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION],
  revocation_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGS],
  // A client_id without authentication is not enough for introspection (RFC 7662 section 2.1).
  introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION.filter(
    (method) => method !== 'none',
  ),
  introspection_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGS],
};

interface Supported {
  scopes_supported?: readonly string[];
}

/**
 * Adds the scopes of the resources to `scopes_supported` (RFC 8414 section 2), in which the engine lists only those of
 * OpenID Connect. The scope of resource servers is not listed, since applications do not request it.
 */
export function trueMetadata(config: Config) {
  const scopes = new Set(OPENID_SCOPES);
  for (const space of tokenSpaces(config))
    for (const scope of spaceScopes(space)) scopes.add(scope);
  for (const scope of [VERIFY_SCOPE, FOLLOW_SCOPE, ADMIN_SCOPE, ADMIN_READ_SCOPE]) {
    scopes.delete(scope);
  }
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    const metadata = (ctx.body ?? {}) as Supported;
    if (metadata.scopes_supported) metadata.scopes_supported = [...scopes];
  };
}

/** Metadata (RFC 8414, OpenID Connect Discovery) and keys may be cached. */
export function publicMetadata(maxAge: number) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    await next();
    const found = ctx.path === '/jwks' || ctx.path.startsWith('/.well-known/');
    if (!found || ctx.status !== 200) return;
    const fields = { 'Cache-Control': `public, max-age=${maxAge}`, 'Content-Type': ctx.type };
    const answer = validated(ctx.req, { status: 200, fields, body: JSON.stringify(ctx.body) });
    ctx.remove('X-Request-Id'); // a cache may give this answer to others, so it must not be about one request
    ctx.status = answer.status; // a 304 answer has no content
    ctx.set({ ...answer.fields } as Record<string, string>);
  };
}

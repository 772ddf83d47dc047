import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { ALLOW_CREDENTIALS } from '#shared/server/endpoints/cors.ts';
import { clientOrigins } from '../../base/client-origins.ts';

/** Where scripts send credentials, as keycloak-js does. The engine reads no cookie there, and sets none. */
const WITH_CREDENTIALS: ReadonlySet<string> = new Set(['token', 'revocation']);

/**
 * Whether a script of this origin may call as that client (Fetch Standard, CORS protocol). Introspection
 * (RFC 7662 section 2.1) is for resource servers, which are no scripts.
 */
export function clientBasedCORS(
  { oidc, response }: KoaContextWithOIDC,
  origin: string,
  client: Client,
): boolean {
  if (oidc.route === 'introspection') return false;
  const origins = Array.isArray(client['origins']) ? client['origins'] : [];
  const allowed = clientOrigins({ origins, redirect_uris: client.redirectUris ?? [] }).has(origin);
  if (allowed && WITH_CREDENTIALS.has(oidc.route)) response.set(ALLOW_CREDENTIALS);
  return allowed;
}

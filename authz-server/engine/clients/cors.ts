import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { clientOrigins } from '../../base/client-origins.ts';

/**
 * Whether a script of this origin may call as that client (Fetch Standard, CORS protocol). Introspection
 * (RFC 7662 section 2.1) is for resource servers, which are no scripts.
 */
export function clientBasedCORS(
  { oidc }: KoaContextWithOIDC,
  origin: string,
  client: Client,
): boolean {
  if (oidc.route === 'introspection') return false;
  const origins = Array.isArray(client['origins']) ? client['origins'] : [];
  return clientOrigins({ origins, redirect_uris: client.redirectUris ?? [] }).has(origin);
}

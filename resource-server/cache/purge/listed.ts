import { isCrossSite } from '#shared/auth/cross-site.ts';
import { type AuthRequest, ORIGIN } from '#shared/auth/scheme.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';

/**
 * Whether a request may purge because of where it comes from. A trusted proxy that does not say for whom it asks is
 * nobody; a page of another origin cannot use that its reader is in a listed network.
 */
export function isListed(
  networks: TrustedProxies,
  request: AuthRequest,
  proxies: TrustedProxies,
): boolean {
  const { address } = request.peer;
  return networks.has(address) && !proxies.has(address) && !isCrossSite({ at: ORIGIN }, request);
}

import { isCrossSite } from '#shared/auth/judge/cross-site.ts';
import { type AuthRequest, ORIGIN } from '#shared/auth/scheme.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import { CACHE_METHODS } from '#shared/http/methods.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Space } from '../../space/spaces.ts';

/**
 * Returns whether PURGE or BAN needs no credentials. Throws HttpError 403 if the space accepts none and the client is
 * not on the list.
 */
export function purgesUnasked(
  { request, asked }: Pick<Exchange, 'request' | 'asked'>,
  { networks }: NonNullable<Space['purge']>,
  hasSchemes: boolean,
  proxies: TrustedProxies,
): boolean {
  if (!CACHE_METHODS.includes(request.method ?? '')) return false;
  const listed = isListed(networks, asked(), proxies);
  if (!listed && !hasSchemes) {
    throw new HttpError(403, 'PURGE and BAN are only for listed networks.');
  }
  return listed;
}

/**
 * Whether a request may purge because of its address. A trusted proxy that does not name its client is not on the list.
 * A page of another origin cannot abuse that its reader is in a listed network.
 */
export function isListed(
  networks: TrustedProxies,
  request: AuthRequest,
  proxies: TrustedProxies,
): boolean {
  const { address } = request.peer;
  return networks.has(address) && !proxies.has(address) && !isCrossSite({ at: ORIGIN }, request);
}

import { METHODS } from '#shared/http/methods.ts';
import { actOf, type AuthRequest, PROXY, type ProtectionSpace } from '../scheme.ts';

const UNASKED: ReadonlySet<string> = new Set(['POST', 'WEBSOCKET']);

/**
 * True if a page of another site may have made a browser send this request, which matters if the browser adds the
 * credentials by itself. With every unsafe request a browser names the page's origin (Fetch section 3.2; `null` is
 * the origin of no site) and its relation to ours (Fetch Metadata section 2.3). A request with neither field is not
 * from a browser. At a proxy the result is always false, since pages everywhere use the proxy.
 *
 * If the space lists an origin without credentials, its pages may use methods that need a preflight: after a
 * preflight the browser adds no credentials by itself. A browser sends no preflight for POST (Fetch, section
 * CORS-preflight fetch). It sends none for the handshake of a WebSocket either, although the page could then write
 * and read (RFC 6455 section 10.2).
 */
export function isCrossSite(
  {
    at,
    corsOrigins = [],
    corsCredentials = false,
  }: Pick<ProtectionSpace, 'at' | 'corsOrigins' | 'corsCredentials'>,
  request: AuthRequest,
): boolean {
  const act = actOf(request);
  if (at === PROXY || METHODS.get(act)?.safe) return false;
  const page = request.field('origin');
  if (page === undefined) return request.field('sec-fetch-site') === 'cross-site';
  if (page === request.origin) return false;
  return !corsOrigins.includes(page) || (UNASKED.has(act) && !corsCredentials);
}

import { METHODS } from '#shared/http/methods.ts';
import { actOf, type AuthRequest, PROXY, type ProtectionSpace } from '../scheme.ts';

const UNASKED: ReadonlySet<string> = new Set(['POST', 'WEBSOCKET']);

/**
 * Whether a page elsewhere may have made a browser send this request, which matters where the browser
 * adds the credentials by itself. Browsers name the page's origin with every unsafe request (Fetch
 * section 3.2, `null` is nobody's) and how it stands to ours (Fetch Metadata section 2.3); who sends
 * neither field is no browser. A proxy is used from pages everywhere.
 *
 * A page of an origin that the space lists without credentials passes where the browser has asked first,
 * and has added none by itself then. POST it sends without asking (Fetch, section CORS-preflight fetch), and so the
 * handshake of a WebSocket, a GET over which a page elsewhere could then write and read (RFC 6455 section 10.2).
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

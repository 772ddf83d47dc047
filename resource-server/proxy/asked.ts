import { Http2ServerRequest } from 'node:http2';
import { remembering } from '#shared/base/recent-map.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { checkForwardable } from '#shared/http/method-rules.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { framingOf } from '../forwarding/fields.ts';
import { type Authority, parseAuthority } from '#shared/client/destinations/authority.ts';
import { parseProxyTarget, type ProxyTarget } from './target.ts';

/** Kinds of targets, with the reasons for which a proxy refuses them. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^[a-z]+:\/\/[^/?#]*@/i, 'A target has no user name or password (RFC 9110 section 4.2.4).'],
  [/^https:/i, 'The target has to be an http URL. For https ask for a tunnel (CONNECT).'],
];
const OTHER = 'The target has to be an http URL, with a host that can be read in one way.';

/**
 * Returns the destination of a request to a proxy, and its full URL. Throws BadRequest, or HttpError 421 for a
 * request to an origin server.
 */
export function targetOf(request: AnyRequest): {
  readonly uri: string;
  readonly target: ProxyTarget;
} {
  const { method = '', url = '' } = request;
  refuseOtherHost(request);
  const http2 = request instanceof Http2ServerRequest;
  if (!http2 && (url === '*' || url.startsWith('/'))) {
    throw new HttpError(421, 'This is a forward proxy, which needs the whole URL as the target.');
  }
  checkForwardable(method);
  if (method === 'TRACE' && framingOf(request) !== undefined) {
    throw new BadRequest('TRACE has no content (RFC 9110 section 9.3.8).');
  }
  const uri = http2 ? `${request.scheme}://${request.authority}${url === '*' ? '' : url}` : url;
  const target = parseProxyTarget(method, uri);
  if (target === undefined) {
    const [, because = OTHER] = REASONS.find(([form]) => form.test(uri)) ?? [];
    throw new BadRequest(because);
  }
  return { uri, target };
}

/** Returns the destination of a tunnel. Throws BadRequest if it is not `host:port` (RFC 9110 section 9.3.6). */
export function tunnelDestination(request: AnyRequest, authority: string): Authority {
  refuseOtherHost(request);
  const { rawHeaders } = request;
  if (['content-length', 'transfer-encoding'].some((name) => single(rawHeaders, name))) {
    throw new BadRequest('CONNECT has no content (RFC 9110 section 9.3.6).');
  }
  const destination = destinationOf(authority);
  if (destination === undefined) throw new BadRequest('CONNECT needs a host and a port.');
  return destination;
}

const destinationOf = remembering((authority) => parseAuthority(authority), {
  capacity: 1000,
  longest: 262,
});

function refuseOtherHost(request: AnyRequest): void {
  if (!(request instanceof Http2ServerRequest)) return; // in HTTP/1.1 the target takes precedence over Host
  const { host = request.authority } = request.headers;
  if (host.toLowerCase() !== request.authority.toLowerCase()) {
    throw new BadRequest('Host differs from :authority (RFC 9113 section 8.3.1).');
  }
}

import type { IncomingMessage } from 'node:http';

/**
 * Sets the request's scheme, host and client address from the configuration. The engine builds
 * its URLs (metadata, `htu` of DPoP, RFC 9449 section 4.3) and its addresses from these fields, so none of
 * them may come from the network.
 */
export function pinOrigin(
  request: IncomingMessage,
  issuer: URL,
  path: string,
  address: string,
): void {
  const query = request.url?.indexOf('?') ?? -1;
  request.url = query === -1 ? path : path + (request.url ?? '').slice(query);
  for (const name of Object.keys(request.headers)) {
    if (name === 'forwarded' || name.startsWith('x-forwarded-')) delete request.headers[name];
  }
  request.headers.host = issuer.host;
  request.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
  request.headers['x-forwarded-host'] = issuer.host;
  request.headers['x-forwarded-for'] = address;
}

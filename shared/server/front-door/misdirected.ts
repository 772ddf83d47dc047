import { Http2ServerRequest } from 'node:http2';
import { TLSSocket } from 'node:tls';
import { isLoopback, namesMachine } from '#shared/http/loopback.js';
import { normalAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '../message/message.ts';

/**
 * Paths that are served under every name, for health probes and for servers that know this server by another name.
 */
const FOR_EVERY_NAME = /^\/(?:\.well-known\/|jwks$|health\/(?:live|ready)$)/;

/** Throws HttpError 421 for a request that was meant for another server. */
export type RefuseMisdirected = (request: AnyRequest, path: string) => void;

/**
 * RFC 9110 sections 7.4 and 15.5.20: a server answers for its origins, and for the address that the client connected
 * to. A trusted proxy may send any name. A request over loopback in clear text may have any loopback name. `origins`
 * may have absent entries.
 */
export function misdirection(
  origins: readonly (string | undefined)[],
  proxies: TrustedProxies,
): RefuseMisdirected {
  const hosts = new Set(
    origins.flatMap((origin) => (origin === undefined ? [] : new URL(origin).host)),
  );

  return (request, path) => {
    const { socket } = request;
    const peer = normalAddress(socket.remoteAddress ?? '') ?? '';
    if (FOR_EVERY_NAME.test(path) || proxies.has(peer)) return;
    const { scheme, authority } = askedOf(request);
    const secure = socket instanceof TLSSocket;
    if (scheme === 'https' && !secure) {
      throw misdirected('What is at https is not served over a connection in clear text.', peer);
    }
    if (authority === '') return;
    const host = normal(authority);
    if (hosts.has(host) || isListener(host, socket)) return;
    if (!secure && isLoopback(peer) && namesMachine(authority)) return;
    throw misdirected(
      `This server does not answer for ${authority}. Use a URL of its own, and let a proxy pass on Host.`,
      peer,
    );
  };
}

function misdirected(detail: string, peer: string): HttpError {
  const cause = new Error(`${peer} is not in trustedProxies`);
  return Object.assign(new HttpError(421, detail), { cause });
}

/** Returns the authority of a request. An absolute URL as target has priority over Host (RFC 9112 section 3.2.2). */
function askedOf(request: AnyRequest): { readonly scheme?: string; readonly authority: string } {
  const { url = '', headers } = request;
  const [, given, named = ''] = /^(https?):\/\/([^/?]*)/i.exec(url) ?? [];
  if (given !== undefined) return { scheme: given.toLowerCase(), authority: named };
  const { host = '' } = headers;
  if (!(request instanceof Http2ServerRequest)) return { authority: host };
  return { scheme: request.scheme, authority: request.authority || host };
}

/** True if the request names the address that the client connected to: an address of this machine and our port. */
function isListener(host: string, { localAddress, localPort }: AnyRequest['socket']): boolean {
  const address = normalAddress(localAddress ?? '') ?? '';
  const literal = address.includes(':') ? `[${address}]` : address;
  const names = isLoopback(address) ? [literal, 'localhost'] : [literal];
  return names.some((name) => host === normal(`${name}:${localPort}`));
}

/** Returns the host as `URL.host` writes it, without port 80 or 443 (RFC 3986 section 6.2.3). */
function normal(authority: string): string {
  return authority.toLowerCase().replace(/:(?:80|443)?$/, '');
}

import { TLSSocket } from 'node:tls';
import { lines, single } from '#shared/http/fields.ts';
import { clientAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import { contentDigest } from './content.ts';
import { exporterOf } from './exporter.ts';
import type { AnyRequest } from './message.ts';
import type { AuthRequest, Position } from '#shared/auth/scheme.ts';

/** What a request asks for, as its recipient knows it. */
export type Asked = Pick<AuthRequest, 'method' | 'target' | 'origin'>;

/** Whom requests are sent to, and what it knows of the way that they come. */
export interface Recipient {
  readonly at: Position;
  readonly proxies: TrustedProxies;
  /** What comes in clear text comes from this machine: not from elsewhere, nor through a proxy. */
  readonly local: boolean;
}

/** A request as authentication reads it. */
export function authRequest(
  request: AnyRequest,
  asked: Asked,
  { at, proxies, local }: Recipient,
): AuthRequest {
  const { rawHeaders, socket, httpVersionMajor } = request;
  const peer = socket.remoteAddress ?? '';
  const trusted = proxies.has(peer);
  return {
    ...asked,
    at,
    field: (name) => single(rawHeaders, name),
    lines: (name) => lines(rawHeaders, name),
    peer: {
      address: clientAddress(peer, lines(rawHeaders, 'x-forwarded-for'), proxies),
      connection: socket,
      http2: httpVersionMajor === 2,
      trusted,
    },
    get confidential() {
      if (local || socket instanceof TLSSocket) return true;
      return trusted && single(rawHeaders, 'x-forwarded-proto') === 'https';
    },
    get exporter() {
      return exporterOf(request);
    },
    content: { digest: (hash) => contentDigest(request, hash) },
  };
}

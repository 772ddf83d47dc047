/** Connections whose exporter is known, over which several requests go (RFC 9729 sections 3 and 7). */
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { overHttp2 } from '../../interop/over-http2.ts';
import type { Send } from '../digest/exchange.ts';
import { overHttp, tunnelAgent } from '../digest/over-http.ts';
import type { Exporter } from './concealed-client.ts';

export const LABEL = 'EXPORTER-HTTP-Concealed-Authentication';
export const EXPORTED = 48;

export interface BoundConnection extends AsyncDisposable {
  readonly exporter: Exporter;
  readonly send: Send;
}

/** HTTP/1.1 to an origin or to a proxy, all on one connection: it fails when the server has ended that. */
export async function overTls1(
  host: string,
  port: number,
  options: ConnectionOptions,
): Promise<BoundConnection> {
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = connect({ host, port, ALPNProtocols: ['http/1.1'], ...servername, ...options });
  await once(socket, 'secureConnect');
  return {
    exporter: exporterOf(socket),
    send: overHttp({ host, port, agent: tunnelAgent(socket) }),
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  };
}

/** HTTP/2 to an `https:` origin or proxy, no matter who vouches for it; targets are in absolute-form. */
export async function overTls2(server: string): Promise<BoundConnection> {
  const connection = overHttp2(server);
  await once(connection.session, 'connect');
  return { ...connection, exporter: exporterOf(connection.session.socket as TLSSocket) };
}

/**
 * Section 7: of TLS 1.3 only, since Node does not tell whether a connection of TLS 1.2 has an extended
 * master secret.
 */
export function exporterOf(socket: TLSSocket): Exporter {
  if (socket.getProtocol() !== 'TLSv1.3') {
    throw new Error('the exporter is safe with TLS 1.3 only');
  }
  return (context) => socket.exportKeyingMaterial(EXPORTED, LABEL, context);
}

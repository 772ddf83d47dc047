/** Connections with a known exporter, for several requests each (RFC 9729 sections 3 and 7). */
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

/**
 * Opens HTTP/1.1 to an origin or a proxy, with all requests on one connection. A request fails once the
 * server has closed it.
 */
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

/** Opens HTTP/2 to an `https:` origin or proxy with any certificate. Targets are in absolute-form. */
export async function overTls2(server: string): Promise<BoundConnection> {
  const connection = overHttp2(server);
  await once(connection.session, 'connect');
  return { ...connection, exporter: exporterOf(connection.session.socket as TLSSocket) };
}

/**
 * The exporter of a TLS 1.3 connection only (section 7): Node does not show whether a TLS 1.2 connection
 * has an extended master secret.
 */
export function exporterOf(socket: TLSSocket): Exporter {
  if (socket.getProtocol() !== 'TLSv1.3') {
    throw new Error('the exporter is safe with TLS 1.3 only');
  }
  return (context) => socket.exportKeyingMaterial(EXPORTED, LABEL, context);
}

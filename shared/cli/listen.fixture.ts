import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';

/** A request as it was received; `line` is `METHOD /path?query`. */
export interface Received {
  readonly line: string;
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly authorization: string | undefined;
  readonly body: string;
  readonly content: Buffer;
  /** The client's port, which tells connections apart. */
  readonly port: number | undefined;
}

/**
 * The answer of the server. An object as `body` is sent as JSON, a Buffer unchanged. Undefined in place of a reply
 * breaks the connection.
 */
export interface Reply {
  readonly status?: number;
  readonly fields?: Record<string, string>;
  readonly body?: string | Buffer | object;
}

const servers = new Set<Server>();

afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers.clear();
});

export interface Listening {
  readonly origin: string;
  readonly received: readonly Received[];
}

/**
 * Starts a server on a free loopback port until the end of the test, and records every request. With a certificate it
 * is a TLS server at https://localhost.
 */
export async function listen(
  reply: (request: Received, origin: string) => Reply | undefined | Promise<Reply | undefined>,
  tls?: ServerOptions,
): Promise<Listening> {
  const received: Received[] = [];
  let origin = '';
  const serve: RequestListener = (incoming, response) => {
    const { method, url, headers } = incoming;
    const answer = async () => {
      const content = await buffer(incoming);
      const request = {
        line: `${method} ${url}`,
        method,
        url,
        headers,
        authorization: headers.authorization,
        body: content.toString(),
        content,
        port: incoming.socket.remotePort,
      };
      received.push(request);
      send(response, await reply(request, origin));
    };
    void answer();
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  // The client connects to the first address of the name. Another server may listen at another address.
  server.listen(0, tls ? 'localhost' : '127.0.0.1');
  servers.add(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  return { origin, received };
}

function send(response: ServerResponse, reply: Reply | undefined): void {
  if (reply === undefined) {
    response.destroy();
    return;
  }
  const { status = 200, fields, body = '' } = reply;
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.writeHead(status, fields).end(content);
}

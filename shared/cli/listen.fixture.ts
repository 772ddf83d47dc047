import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';

/** A request as it was received; `line` is `METHOD /path?query`. */
export interface Received {
  readonly line: string;
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** `body` that is an object is sent as JSON; undefined instead of a reply breaks the connection. */
export interface Reply {
  readonly status?: number;
  readonly fields?: Record<string, string>;
  readonly body?: string | object;
}

const servers = new Set<Server>();

afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers.clear();
});

/** A server on a free port of this machine until the end of the test, and every request that it was sent. */
export async function listen(
  reply: (request: Received, origin: string) => Reply | undefined | Promise<Reply | undefined>,
): Promise<{ readonly origin: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  let origin = '';
  const server = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const answer = async () => {
      const request = {
        line: `${method} ${url}`,
        method,
        url,
        headers,
        authorization: headers.authorization,
        body: await text(incoming),
      };
      received.push(request);
      send(response, await reply(request, origin));
    };
    void answer();
  });
  server.listen(0, '127.0.0.1');
  servers.add(server);
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, received };
}

function send(response: ServerResponse, reply: Reply | undefined): void {
  if (reply === undefined) {
    response.destroy();
    return;
  }
  const { status = 200, fields, body = '' } = reply;
  response.writeHead(status, fields).end(typeof body === 'string' ? body : JSON.stringify(body));
}

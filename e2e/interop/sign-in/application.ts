import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { html } from '#shared/pages/html.ts';

/** A request that reached the application. */
export interface Reached {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Application extends AsyncDisposable {
  readonly origin: string;
  /** The requests since `reached` was last emptied. */
  reached: Reached[];
}

/**
 * An application that knows the identity fields only. Each page has a form, and sends requests by script.
 */
export async function startApplication(): Promise<Application> {
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    void text(request).then((body) => {
      application.reached.push({ method, url, headers, body });
      const name = decodeURIComponent(String(headers['x-auth-name']));
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.setHeader('Cache-Control', 'no-store');
      const page = html`<!doctype html><title>Notes</title>
        <h1>Hello ${name}</h1>
        <p id="at">${method} ${url}</p>
        <form method="post" action="/notes">
          <input name="note" value="what I wrote" /><button>Save</button>
        </form>
        <form method="post" action="/.countersign/sign-out"><button>Leave</button></form>`;
      response.end(page.toString());
    });
  });
  // A silent WebSocket that stays open.
  server.on('upgrade', ({ headers }, socket) => {
    const accept = createHash('sha1')
      .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.on('error', () => {});
    socket.resume();
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const application: Application = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return application;
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { acceptOf } from '#shared/http/web-socket.ts';
import { echoOf, maskedLength } from './short-frame.ts';

/** What stands behind the gateways, in this process. */
export interface EchoApplication extends AsyncDisposable {
  /** Origin. */
  readonly url: string;
}

/** Gives short messages back, and knows nothing else of WebSockets: with the package ws a fifth fewer pass. */
export async function startEchoApplication(): Promise<EchoApplication> {
  const sockets = new Set<Duplex>();
  const server = createServer((_request, response) => void response.end('No WebSocket.'));
  server.on('upgrade', ({ headers }, socket) => {
    sockets.add(socket);
    const accept = acceptOf(headers['sec-websocket-key'] ?? '');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    giveBack(socket);
    socket
      .on('error', () => {}) // `close` follows
      .once('end', () => socket.end())
      .once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

function giveBack(socket: Duplex): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (octets: Buffer) => {
    rest = rest.length === 0 ? octets : Buffer.concat([rest, octets]);
    for (;;) {
      const length = maskedLength(rest);
      if (length === undefined || rest.length < length) return;
      socket.write(echoOf(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
  });
}

import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { acceptOf } from '#shared/http/web-socket.ts';

/** The behaviour of an application at a handshake. */
export type Answering = (socket: Socket, request: IncomingMessage) => void;

export const key = ({ headers }: IncomingMessage) => headers['sec-websocket-key'] ?? '';

/** A 101 answer with further lines. */
export const switching = (accept: string, more = '') =>
  `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${more}\r\n`;

/** Opens the WebSocket, and echoes every octet. */
export const echo: Answering = (socket, request) => {
  socket.write(switching(acceptOf(key(request)), 'X-Application: yes\r\n'));
  socket.pipe(socket);
};

/** Starts an application with WebSockets. `handshakes` and `sockets` are those of the current test. */
export async function startSocketApplication() {
  const handshakes: IncomingMessage[] = [];
  const sockets: Socket[] = [];
  const all = new Set<Socket>();
  let answer = echo;
  const server = http.createServer((request, response) => {
    response.end(`plain ${request.method} ${request.headers.upgrade ?? ''}`);
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    all.add(socket);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    handshakes.push(request);
    answer(socket, request);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    handshakes,
    sockets,
    /** Sets the behaviour from now on. */
    answers(next: Answering = echo) {
      answer = next;
      handshakes.length = 0;
      sockets.length = 0;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of all) socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

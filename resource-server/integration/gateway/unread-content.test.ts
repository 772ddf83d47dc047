import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clientOf } from '../spaces-under-test.fixture.ts';
import { startGateway } from '../gateway.fixture.ts';

/** An application that answers without reading content, and reads the octets after a head as another request. */
const seen = new Map<Socket, string[]>();
const sockets = new Set<Socket>();
const application = createServer((socket) => {
  sockets.add(socket.on('error', () => {}));
  let rest = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    const heads = (rest + piece).split('\r\n\r\n');
    rest = heads.pop() ?? '';
    for (const head of heads) {
      const [first = ''] = head.split('\r\n');
      seen.set(socket, [...(seen.get(socket) ?? []), first]);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${first.length}\r\n\r\n${first}`);
    }
  });
});
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  await once(application.listen(0, '127.0.0.1'), 'listening');
  const { port } = application.address() as AddressInfo;
  gateway = await startGateway({
    shop: {
      upstream: { url: `http://127.0.0.1:${port}/`, connections: 1 },
      methods: ['GET', 'POST', 'DELETE', 'QUERY', 'PROPFIND', 'PROPPATCH', 'LOCK'],
    },
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const socket of sockets) socket.destroy();
  application.close();
});

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';

test.each(['GET', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND', 'PROPPATCH', 'LOCK'])(
  "RFC 9112 section 9.3: content of %s that the application does not read never becomes another client's request",
  async (method) => {
    const ask = clientOf(gateway);
    seen.clear();
    const headers = { 'Content-Type': 'text/plain' };
    const framed = { ...headers, 'Content-Length': SMUGGLED.length };
    const chunked = { ...headers, 'Transfer-Encoding': 'chunked' };
    for (let round = 0; round < 6; round += 1) {
      const path = `/shop/${method}-${round}`;
      const answers = await Promise.all([
        ask(method, path, { headers: framed, body: SMUGGLED }),
        ask('GET', `${path}-next`),
        ask('POST', `${path}-next`, { headers: chunked, body: 'x\r\n\r\n' }),
      ]);
      expect(answers.map(({ text }) => text)).toEqual(
        [
          `${method} /${method}-${round}`,
          ...['GET', 'POST'].map((one) => `${one} /${method}-${round}-next`),
        ].map((line) => `${line} HTTP/1.1`),
      );
    }
    const connections = [...seen.values()].filter(([line = '']) => / [^ ]*-\d /.test(line));
    expect(
      connections.map((lines) => lines.filter((line) => !line.includes('smuggled')).length),
    ).toEqual(Array.from({ length: 6 }, () => 1));
  },
);

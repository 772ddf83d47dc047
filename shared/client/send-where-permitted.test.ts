import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDestinations } from './destinations/destinations.ts';
import { NoAnswer } from './send.ts';
import { sendWherePermitted } from './send-where-permitted.ts';

let server: Server;
let port: number;
const hosts: (string | undefined)[] = [];

beforeAll(async () => {
  server = createServer(({ headers, url }, response) => {
    hosts.push(headers.host);
    if (url === '/redirect') response.writeHead(302, { Location: '/elsewhere' });
    response.end(url === '/long' ? 'x'.repeat(100_000) : 'told');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends to a name whose look-ups return these addresses, one list after another. */
async function send(url: string, entries: readonly string[], ...found: readonly string[][]) {
  let looked = 0;
  const reply = await sendWherePermitted(
    { method: 'POST', url, body: '{}' },
    {
      destinations: createDestinations(entries, () => []),
      resolve: async () => found[looked++] ?? [],
      milliseconds: 2000,
    },
  ).catch((error: unknown) => error);
  return { reply, looked };
}

test('a name is looked up once, and the client connects to the checked address', async () => {
  const url = `http://client.example:${port}/`;
  hosts.length = 0;
  const entries = [`127.0.0.0/8:${port}`];
  const later = ['192.0.2.1'];
  expect(await send(url, entries, ['127.0.0.1'], later)).toMatchObject({
    reply: { status: 200 },
    looked: 1,
  });
  expect(hosts).toEqual([`client.example:${port}`]);
  const direct = await send(`http://127.0.0.1:${port}/`, entries);
  expect(direct).toMatchObject({ reply: { status: 200 }, looked: 0 });
});

test.each([
  ['loopback', ['127.0.0.1']],
  ['loopback of IPv6', ['::1']],
  ['loopback in IPv6', ['::ffff:127.0.0.1']],
  ['a private network', ['10.0.0.1']],
  ['the metadata of a cloud', ['169.254.169.254']],
  ['nothing', []],
])('a public name with the address of %s gets no request', async (_what, addresses) => {
  const { reply, looked } = await send('https://client.example/', ['public:443'], addresses, [
    '192.0.2.1',
  ]);
  expect(reply).toBeInstanceOf(NoAnswer);
  expect(looked).toBe(1);
});

test('a name with a port that the configuration does not name is not even looked up', async () => {
  const { reply, looked } = await send('https://client.example:8443/', ['public:443']);
  expect(reply).toBeInstanceOf(NoAnswer);
  expect(looked).toBe(0);
});

test('a redirect is not followed, and an answer that is too long is refused', async () => {
  const entries = [`127.0.0.1:${port}`];
  hosts.length = 0;
  const redirected = await send(`http://127.0.0.1:${port}/redirect`, entries);
  expect(redirected.reply).toMatchObject({ status: 302 });
  expect(hosts).toHaveLength(1);
  expect((await send(`http://127.0.0.1:${port}/long`, entries)).reply).toBeInstanceOf(NoAnswer);
});

test('a server that is silent during the TLS handshake costs no more time than one that does not answer', async () => {
  const open = new Set<Socket>();
  const silent = createTcpServer((socket) => void open.add(socket.on('error', () => {})));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port: at } = silent.address() as AddressInfo;
  const sending = sendWherePermitted(
    { method: 'GET', url: `https://127.0.0.1:${at}/` },
    {
      destinations: createDestinations([`127.0.0.1:${at}`], () => []),
      resolve: async () => [],
      milliseconds: 100,
    },
  );
  // The time limit is that of the whole exchange, not a new one for the connection.
  await expect(sending).rejects.toMatchObject({
    words: { values: { why: { code: 'network-time' } } },
  });
  for (const socket of open) socket.destroy();
  silent.close();
});

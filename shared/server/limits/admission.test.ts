import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type TrustedProxies, trustedProxies } from '#shared/http/forwarded.ts';
import { silentLog } from '#shared/base/log.ts';
import { Admission } from './admission.ts';
import { listen, type Listening } from '../listen/listen.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import { CLOSING_GET, GET, hello, open } from '../wire/wire.fixture.ts';

const NOBODY = trustedProxies([]);
let clients: Socket[] = [];
let server: Server;
let accepted: Socket[] = [];

beforeEach(async () => {
  server = createServer((socket) => accepted.push(socket));
  server.listen(0, '::');
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of [...clients, ...accepted]) client.destroy();
  [clients, accepted] = [[], []];
  server.close();
});

/** Returns the server's end of a new connection from that address. */
async function from(localAddress: string): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const host = localAddress.includes(':') ? '::1' : '127.0.0.1';
  const client = connect({ port, host, localAddress });
  clients.push(client);
  const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  return socket as Socket;
}

async function close(socket: Socket): Promise<void> {
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
}

test('one address has a limited number of connections, and may open another one when one is closed', async () => {
  const admission = new Admission({ address: 2, total: 100 }, NOBODY);
  const first = await from('127.0.0.1');
  expect(admission.refusal(first)).toBeUndefined();
  expect(admission.refusal(await from('127.0.0.1'))).toBeUndefined();
  expect(admission.refusal(await from('127.0.0.1'))).toMatch(/one address/);
  expect(admission.refusal(await from('127.0.0.2'))).toBeUndefined();
  await close(first);
  expect(admission.refusal(await from('127.0.0.1'))).toBeUndefined();
  expect(admission.refusal(await from('127.0.0.1'))).toMatch(/one address/);
});

test('ten addresses with all their connections open leave connections for other addresses', async () => {
  const admission = new Admission({ address: 10, total: 100 }, NOBODY);
  const opened: number[] = [];
  for (let address = 1; address <= 10; address += 1) {
    let own = 0;
    while (admission.refusal(await from(`127.0.0.${address}`)) === undefined) own += 1;
    opened.push(own);
  }
  expect(opened).toEqual([10, 9, 9, 8, 7, 6, 6, 5, 4, 4]);
});

test('connections of trusted proxies use up only the total', async () => {
  const admission = new Admission({ address: 1, total: 3 }, trustedProxies(['127.0.0.0/30']));
  for (let index = 0; index < 3; index += 1) {
    expect(admission.refusal(await from('127.0.0.1'))).toBeUndefined();
  }
  expect(admission.refusal(await from('127.0.0.1'))).toMatch(/too many connections$/);
  expect(admission.refusal(await from('127.0.0.9'))).toMatch(/too many connections$/);
});

test('an IPv4 client has the same address at an IPv6 listener', async () => {
  const admission = new Admission({ address: 1, total: 9 }, NOBODY);
  expect((await from('127.0.0.1')).remoteAddress).toMatch(/^::ffff:/);
  expect(admission.refusal(await from('127.0.0.1'))).toBeUndefined();
  expect(admission.refusal(await from('127.0.0.1'))).toMatch(/one address/);
  expect(admission.refusal(await from('::1'))).toBeUndefined();
});

test('half of the file descriptors stay in reserve', async () => {
  const admission = new Admission({ address: 100, total: 100 }, NOBODY, 16);
  expect(admission.refusal(await from('127.0.0.1'))).toBeUndefined();
  expect(admission.refusal(await from('127.0.0.1'))).toBeUndefined();
  expect(admission.refusal(await from('127.0.0.1'))).toMatch(/one address/);
});

/** Starts two listeners of one process. */
async function startBoth(address: number, trusted: TrustedProxies = NOBODY) {
  const parts = { host: '127.0.0.1', port: 0, handler: hello, log: silentLog };
  const http2 = { handler: () => {} };
  const first = await listen({
    ...parts,
    trusted,
    limits: { connections: { address, total: 100 } },
  });
  const second: Listening = await listen({ ...parts, http2, admission: first.admission });
  open.push(first, second);
  return [first, second] as const;
}

test('RFC 9110 section 15.6.4: a connection over the limit gets 503 at every listener of the process', async () => {
  const [first, second] = await startBoth(2);
  const kept = [new TestSocket(first), new TestSocket(second)];
  for (const client of kept) {
    await client.send(GET);
    await client.until('hello');
  }
  for (const listening of [first, second]) {
    const received = await new TestSocket(listening).all;
    expect(statuses(received)).toEqual([503]);
    expect(received).toMatch(/^connection: close$/im);
  }
  kept[0]?.socket.destroy();
  await kept[0]?.all;
  expect(statuses(await exchange(second, CLOSING_GET))).toEqual([200]);
  kept[1]?.socket.destroy();
});

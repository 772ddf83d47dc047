import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stalled } from '../../resource-server/proxy/proxy.fixture.ts';
import type { Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { until } from '../parts/process.ts';
import { overHttp2 } from '../interop/over-http2.ts';
import { basic, startProxySite, startServer, startTcp } from '../interop/proxy-site.ts';
import type { Behind, ProxyProcess, ProxySite } from '../interop/proxy-site.ts';

/** The memory of the forward proxy's process, as Linux reports it. The store has no influence on it. */
const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(65_536, 'x');
const OFFERED = 200 * MIB;
/** Much less than the offered bytes, but more than the buffers of Node and the kernel. */
const SOME = 64 * MIB;

const parts = new AsyncDisposableStack();
/** The next connection or request at a destination. */
let socket = Promise.withResolvers<Socket>();
let exchange = Promise.withResolvers<readonly [IncomingMessage, ServerResponse]>();
let tcp: Behind;
let web: Behind;
beforeAll(async () => {
  tcp = parts.use(await startTcp((one) => socket.resolve(one)));
  const server = http.createServer((request, response) => exchange.resolve([request, response]));
  web = parts.use(await startServer(server));
});
afterAll(async () => parts.disposeAsync());

describe('the proxy', () => {
  let site: ProxySite;
  let beside: ProxyProcess;
  let send: Send;
  let send2: Send;
  const connections = new AsyncDisposableStack();
  beforeAll(async () => {
    site = await startProxySite('sqlite');
    beside = await site.startBeside({ proxy: { destinations: [tcp.at, web.at], tunnels: 800 } });
    const { port } = beside;
    send = overHttp({ host: '127.0.0.1', port });
    ({ send: send2 } = connections.use(overHttp2(`http://127.0.0.1:${port}`)));
  });
  afterAll(async () => {
    await connections.disposeAsync();
    await site[Symbol.asyncDispose]();
  });

  /** The process's resident memory in bytes (proc_pid_statm(5)), with pages of 4 KiB. */
  async function resident(): Promise<number> {
    const [, pages] = (await readFile(`/proc/${beside.process.pid}/statm`, 'utf8')).split(' ');
    return Number(pages) * 4096;
  }

  /** Opens a tunnel and returns both of its ends. */
  async function open(through: Send): Promise<readonly [near: Duplex, far: Duplex]> {
    socket = Promise.withResolvers();
    const { tunnel, status } = await through({
      method: 'CONNECT',
      target: tcp.at,
      fields: [['Proxy-Authorization', basic()]],
      content: Buffer.alloc(0),
    });
    if (tunnel === undefined) throw new Error(`there is no tunnel, but ${status}`);
    return [tunnel, await socket.promise];
  }

  /** Sends a request through the proxy. Resolves to its answer, and to the exchange at the origin. */
  function request(method: string) {
    exchange = Promise.withResolvers();
    const headers = { Host: web.at, 'Proxy-Authorization': basic() };
    const { port } = beside;
    const asking = http.request({ port, method, path: `http://${web.at}/`, headers });
    const answer = once(asking, 'response') as Promise<[IncomingMessage]>;
    return { asking, answer: answer.then(([one]) => one), exchange: exchange.promise };
  }

  /** The end to write to, and the end to read from. The latter may begin later. */
  type Ends = readonly [Writable, Readable | Promise<Readable>];

  async function toClient(through: Send): Promise<Ends> {
    const [near, far] = await open(through);
    return [far, near];
  }

  test.each<[string, () => Promise<Ends>]>([
    ['a tunnel, to the client', () => toClient(send)],
    ['a tunnel, from the client', () => open(send)],
    ['a tunnel over HTTP/2, to the client', () => toClient(send2)],
    ['a tunnel over HTTP/2, from the client', () => open(send2)],
    [
      'the content of an answer',
      async () => {
        const { asking, answer, exchange: arrived } = request('GET');
        asking.end();
        const [, response] = await arrived;
        return [response, answer];
      },
    ],
    [
      'the content of a request',
      async () => {
        const { asking, answer, exchange: arrived } = request('POST');
        void answer.then((one) => one.resume());
        const content = arrived.then(([one, response]) => one.once('end', () => response.end()));
        return [asking, content];
      },
    ],
  ])(
    '%s: the proxy buffers little while the reader is paused, and everything arrives',
    async (_, start) => {
      const [writable, comesOut] = await start();
      const before = await resident();
      const sent = offer(writable);
      await stalled(sent);
      expect(sent()).toBeLessThan(SOME);
      expect(await resident()).toBeLessThan(before + SOME);
      const readable = await comesOut;
      expect(await lengthOf(readable)).toBe(OFFERED);
      // A tunnel with one closed side would stay open.
      for (const end of [writable, readable]) if (end instanceof Duplex) end.destroy();
    },
  );

  test('200 tunnels with data leave no memory in use', async () => {
    const bytes = 256 * 1024;
    async function round(): Promise<void> {
      const tunnels = [];
      for (let count = 0; count < 200; count += 1) {
        tunnels.push(await open(count % 4 === 0 ? send2 : send));
      }
      const lengths = tunnels.map(([near, far]) => {
        far.pipe(far);
        near.end(Buffer.alloc(bytes));
        return lengthOf(near);
      });
      expect(new Set(await Promise.all(lengths))).toEqual(new Set([bytes]));
    }
    await round(); // memory for compiled code after the first round is no leak
    const before = await resident();
    for (let count = 0; count < 3; count += 1) await round();
    await until(async () => (await resident()) < before + SOME);
    await until(() => tcp.sockets.size === 0);
  });
});

async function lengthOf(stream: Readable): Promise<number> {
  let length = 0;
  for await (const piece of stream) length += (piece as Buffer).length;
  return length;
}

/** Writes bytes as fast as the stream accepts, then ends. Returns a function for the number written. */
function offer(to: Writable): () => number {
  let sent = 0;
  const write = () => {
    while (sent < OFFERED) {
      sent += PIECE.length;
      if (!to.write(PIECE)) return;
    }
    to.off('drain', write).end();
  };
  to.on('drain', write);
  write();
  return () => sent;
}

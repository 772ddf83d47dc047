import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink, truncate } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = http2.constants;
const PATH = '/documents/long';
const TIMES = 100;

/** Bytes of content in memory. Content of more than a quarter of this is not kept there. */
const MEMORY = 4_000_000;
/** Documents with an even number are too long for memory and are read from disk, the others from memory. */
const READ = Array.from({ length: 6 }, (_, index) => ({
  path: `/documents/read-${index}`,
  content: randomBytes(index % 2 === 0 ? 1_100_000 + index : 600_000 + index),
}));

let rs: TestResourceServer;
let authorization = '';
const open: Listening[] = [];
/** Warnings of file descriptors that only the garbage collector closed. */
const collected: string[] = [];
const note = ({ message }: Error) => {
  if (message.includes('garbage collection')) collected.push(message);
};

beforeAll(async () => {
  process.on('warning', note);
  rs = await startResourceServer({ documents: { maxBytes: 2_000_000, memory: MEMORY } });
  await rs.as('PUT', PATH, { body: Buffer.alloc(2_000_000) });
  for (const { path, content } of READ) await rs.as('PUT', path, { body: content });
  authorization = `Bearer ${rs.token('documents:read')}`;
});
afterEach(() => Promise.all(open.splice(0).map((listening) => listening.close(0))));
afterAll(async () => {
  process.off('warning', note);
  await rs[Symbol.asyncDispose]();
});

/** Starts the server, with HTTP/2 if `secure`. */
async function start(secure: boolean): Promise<Listening> {
  const { handler, http2: handlerOfBoth } = rs.server;
  if (handlerOfBoth === undefined) throw new Error('it does not speak HTTP/2');
  const certificate = secure ? selfSigned(['localhost'], systemClock, systemRandom) : undefined;
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    http2: { handler: handlerOfBoth, certificate },
    log: silentLog,
    limits: { resets: { burst: 10 * TIMES, per: 1 } },
  });
  open.push(listening);
  return listening;
}

/** Returns the number of content files that this process has open. */
async function openFiles(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => link.startsWith(rs.folder)).length;
}

/** Resolves when no content file is open. */
async function untilClosed(): Promise<void> {
  while ((await openFiles()) > 0) await setImmediate();
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

describe('a client that disconnects before the end of the content leaves no file open', () => {
  const parts = { range: 'bytes=0-700000,800000-1500000,1600000-' };

  test.each<[string, boolean, object]>([
    ['in clear text', false, {}],
    ['in clear text, several ranges', false, parts],
    ['over TLS', true, {}],
    ['over TLS, several ranges', true, parts],
  ])('RFC 9113 section 5.4.2: reset streams leave no file open, %s', async (_, secure, fields) => {
    const { port } = await start(secure);
    const origin = `${secure ? 'https' : 'http'}://localhost:${port}`;
    const session = http2.connect(origin, { rejectUnauthorized: false, maxSessionMemory: 100 });
    session.on('error', () => {});
    await once(session, 'remoteSettings');
    const codes = [NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR];
    async function ask(index: number): Promise<void> {
      const asking = session.request({ ':path': PATH, authorization, ...fields });
      const closed = new Promise((resolve) => asking.once('close', resolve));
      const answered = new Promise((resolve) => asking.once('response', resolve));
      asking.on('error', () => {});
      if (index % 2 === 0) asking.resume();
      await (index % 5 === 0 ? Promise.race([answered, closed]) : turns(index % 23));
      asking.close(codes[index % codes.length]);
      asking.resume(); // otherwise node:http2 delays `close` until a reader takes the data
      await closed;
    }
    for (let from = 0; from < TIMES; from += 10) {
      await Promise.all(Array.from({ length: 10 }, (_one, index) => ask(from + index)));
    }
    await untilClosed();
    expect(session.destroyed).toBe(false);
    session.destroy();
    expect(collected).toEqual([]);
  });

  test('RFC 9113 section 5.1.2: the server answers all allowed streams, even if the client does not read them', async () => {
    const { port } = await start(false);
    const session = http2.connect(`http://localhost:${port}`, { maxSessionMemory: 100 });
    await once(session, 'remoteSettings');
    const asking = Array.from({ length: 100 }, () =>
      session.request({ ':path': PATH, authorization }),
    );
    const statuses = await Promise.all(
      asking.map(async (one) => {
        const [fields] = (await once(one, 'response')) as [http2.IncomingHttpHeaders];
        return fields[':status'];
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    session.destroy();
    await untilClosed();
  });

  test.each([1, 3])(
    'RFC 9112 section 9.5: aborted HTTP/1.1 connections with %d requests on each leave no file open',
    async (requests) => {
      const { port } = await start(false);
      async function ask(index: number): Promise<void> {
        const socket = net.connect(port, '127.0.0.1');
        socket.on('error', () => {});
        const line = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`;
        socket.write(line.repeat(requests));
        const answered = once(socket, 'data');
        await once(socket, 'connect');
        await (index % 5 === 0 ? answered : turns(index % 23));
        if (index % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      }
      for (let from = 0; from < TIMES; from += 10) {
        await Promise.all(Array.from({ length: 10 }, (_one, index) => ask(from + index)));
      }
      await untilClosed();
      expect(collected).toEqual([]);
    },
  );
});

interface Answering {
  readonly content: Readable;
  /** Aborts the request. */
  leave(): void;
}

type Ask = (path: string) => Promise<Answering>;

/**
 * Makes a client with a connection for each request, or with one HTTP/2 connection for all. `end` closes the
 * connections.
 */
function clientOf(port: number, secure: boolean, version: 1 | 2): { ask: Ask; end: () => void } {
  const origin = `${secure ? 'https' : 'http'}://localhost:${port}`;
  if (version === 1) {
    const get = secure ? https.get : http.get;
    const ask: Ask = async (path) => {
      const options = { headers: { authorization }, agent: false, rejectUnauthorized: false };
      const request = get(origin + path, options).on('error', () => {});
      const [content] = (await once(request, 'response')) as [http.IncomingMessage];
      return { content, leave: () => request.destroy() };
    };
    return { ask, end: () => {} };
  }
  const session = http2.connect(origin, { rejectUnauthorized: false, maxSessionMemory: 100 });
  const ask: Ask = async (path) => {
    const content = session.request({ ':path': path, authorization });
    content.on('error', () => {});
    await once(content, 'response');
    return { content, leave: () => content.close(NGHTTP2_CANCEL) };
  };
  return { ask, end: () => session.destroy() };
}

/** Reads at most `upTo` bytes, with pauses if asked. Resolves to the number of bytes read, and of wrong bytes. */
async function compare(read: Readable, content: Buffer, upTo: number, pauses: boolean) {
  let [at, wrong] = [0, 0];
  for await (const piece of read as AsyncIterable<Buffer>) {
    if (!piece.equals(content.subarray(at, at + piece.length))) wrong += piece.length;
    at += piece.length;
    if (at >= upTo) break;
    if (pauses) await turns(at % 7);
  }
  return { at, wrong };
}

describe('a hundred clients that read at the same time, slowly, or disconnect leave no file open', () => {
  test.each<[string, boolean, 1 | 2]>([
    ['HTTP/1.1 in clear text', false, 1],
    ['HTTP/1.1 over TLS', true, 1],
    ['HTTP/2 in clear text', false, 2],
    ['HTTP/2 over TLS', true, 2],
  ])(
    'a hundred clients over %s get the right octets, and no file stays open',
    async (_, secure, version) => {
      const { port } = await start(secure);
      const { ask, end } = clientOf(port, secure, version);
      async function reader(index: number): Promise<void> {
        const { path, content } = READ[index % READ.length] ?? {
          path: '',
          content: Buffer.alloc(0),
        };
        const leaves = index % 5 === 0;
        const upTo = leaves ? (index * 7919) % content.length : content.length;
        const { content: read, leave } = await ask(path);
        await turns((index * 31) % 97);
        const { at, wrong } = await compare(read, content, upTo, index % 3 > 0);
        expect(wrong).toBe(0);
        if (!leaves) expect(at).toBe(content.length);
        leave();
      }
      await Promise.all(Array.from({ length: TIMES }, (_one, index) => reader(index)));
      end();
      await untilClosed();
      expect(collected).toEqual([]);
    },
  );

  /** Puts a document, and returns the path of its content file. */
  async function put(path: string): Promise<string> {
    const known = new Set(await rs.files());
    await rs.as('PUT', path, { body: randomBytes(1_500_000) });
    const file = (await rs.files()).find((name) => !known.has(name)) ?? '';
    return join(rs.folder, file);
  }

  test.each([1, 2] as const)(
    'RFC 9110 section 15.6.1: over HTTP/%d a file that is shorter than its row says is 500',
    async (version) => {
      const path = `/documents/short-${version}`;
      await truncate(await put(path), 1_000_000);
      const { port } = await start(false);
      const { ask, end } = clientOf(port, false, version);
      const { content } = await ask(path);
      let text = '';
      for await (const piece of content) text += String(piece);
      expect(JSON.parse(text)).toMatchObject({ status: 500 });
      end();
      await untilClosed();
    },
  );

  test('HTTP/2: a file that gets shorter while it is sent never looks complete', async () => {
    const path = '/documents/truncated';
    const file = await put(path);
    const { port } = await start(false);
    const { ask, end } = clientOf(port, false, 2);
    // Until the client reads, the server sends no more than the stream's window (RFC 9113 section 5.2).
    const { content } = await ask(path);
    await truncate(file, 1_000_000);
    const read = compare(content, Buffer.alloc(0), Infinity, false);
    await expect(read).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });
    end();
    await untilClosed();
    expect(rs.lines.join('')).toContain('no more than 1000000 bytes');
  });
});

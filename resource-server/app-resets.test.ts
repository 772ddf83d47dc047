import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import http2 from 'node:http2';
import net from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen, type Listening } from '#shared/server/listen.ts';
import { selfSigned } from '#shared/server/self-signed.ts';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = http2.constants;
const PATH = '/documents/long';
const TIMES = 100;

let rs: TestResourceServer;
let authorization = '';
const open: Listening[] = [];
/** Descriptors that only the garbage collection closed. */
const collected: string[] = [];
const note = ({ message }: Error) => {
  if (message.includes('garbage collection')) collected.push(message);
};

beforeAll(async () => {
  process.on('warning', note);
  rs = await startResourceServer({ documents: { maxBytes: 2_000_000 } });
  await rs.as('PUT', PATH, { body: Buffer.alloc(2_000_000) });
  authorization = `Bearer ${rs.token('documents:read')}`;
});
afterEach(() => Promise.all(open.splice(0).map((listening) => listening.close(0))));
afterAll(async () => {
  process.off('warning', note);
  await rs[Symbol.asyncDispose]();
});

/** The same server, for HTTP/2 too. */
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

/** Files of content that this process has open. */
async function openFiles(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => link.startsWith(rs.folder)).length;
}

/** Rejects when that has not come about in the time of the test. */
async function untilClosed(): Promise<void> {
  while ((await openFiles()) > 0) await setImmediate();
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

describe('whoever leaves before the end of the content leaves no file open', () => {
  const parts = { range: 'bytes=0-700000,800000-1500000,1600000-' };

  test.each<[string, boolean, object]>([
    ['in clear text', false, {}],
    ['in clear text, several ranges', false, parts],
    ['over TLS', true, {}],
    ['over TLS, several ranges', true, parts],
  ])('RFC 9113 section 5.4.2: streams that are reset, %s', async (_, secure, fields) => {
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
      asking.resume(); // else node:http2 waits with `close` for who reads it
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

  test('RFC 9113 section 5.1.2: as many streams as are allowed are answered, read or not', async () => {
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

  test('RFC 9112 section 9.5: connections of HTTP/1.1 that are given up', async () => {
    const { port } = await start(false);
    async function ask(index: number): Promise<void> {
      const socket = net.connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`);
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
  });
});

import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LIMITS } from '#shared/config/server-limits.ts';
import { SlowReaders } from './slow-readers.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = http2.constants;
/** The octets that a client accepts of a stream that it does not read. */
const WINDOW = 20_000;
/**
 * The octets of a write: more than the network can hold, and more than the client must read between two checks for
 * each stream.
 */
const LONG = 400_000;
const LEAST = 12_000;

let server: http2.Http2Server;
let client: http2.ClientHttp2Session;
let session: http2.Http2Session;
let readers: SlowReaders;
let latest: http2.ServerHttp2Stream | undefined;

beforeEach(async () => {
  server = http2.createServer();
  server.on('session', (opened) => {
    session = opened;
    readers = new SlowReaders(opened, LIMITS);
  });
  server.on('stream', (stream: http2.ServerHttp2Stream) => {
    latest = stream;
    stream.on('error', () => {});
    stream.respond();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  client = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: WINDOW } });
  client.on('error', () => {});
  await once(client, 'remoteSettings');
});
afterEach(() => {
  client.destroy();
  server.close();
});

/** Waits until the condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

async function begin(method = 'GET') {
  latest = undefined;
  const fields = method === 'GET' ? { ':path': '/' } : { ':authority': 'a:1' };
  const asking = client.request({ ':method': method, ...fields });
  asking.on('error', () => {});
  asking.pause();
  await until(() => latest !== undefined);
  if (latest === undefined) throw new Error('no stream');
  return { asking, stream: latest as http2.ServerHttp2Stream };
}

async function stuck(method?: string) {
  const before = session?.socket.bytesWritten ?? 0;
  const both = await begin(method);
  both.stream.write(Buffer.alloc(LONG));
  await until(() => session.socket.bytesWritten >= before + WINDOW);
  return both;
}

/** Reads so many bytes of a stream, and then stops. */
async function take(asking: http2.ClientHttp2Stream, bytes: number): Promise<void> {
  let taken = 0;
  asking.on('data', (piece: Buffer) => {
    taken += piece.length;
    if (taken >= bytes) asking.pause();
  });
  asking.resume();
  await until(() => taken >= bytes);
}

describe('RFC 9113 section 5.2: a client that does not open its window', () => {
  test('a client that does not read loses the stream at the second check, even if it sends PING', async () => {
    const { asking, stream } = await stuck();
    readers.look();
    expect(stream.closed).toBe(false);
    for (let times = 0; times < 10; times += 1) {
      await new Promise((resolve) => client.ping(resolve));
    }
    const reset = once(asking, 'close');
    readers.look();
    expect(stream.destroyed || stream.closed).toBe(true);
    asking.resume();
    await reset;
    expect(asking.rstCode).toBe(NGHTTP2_CANCEL);
  });

  test('a client keeps the stream as long as it reads enough of a long write', async () => {
    const { asking, stream } = await stuck();
    for (let times = 0; times < 3; times += 1) {
      readers.look();
      await take(asking, LEAST + WINDOW);
      expect(stream.closed).toBe(false);
      asking.removeAllListeners('data');
    }
    readers.look();
    readers.look();
    expect(stream.closed).toBe(true);
  });

  test('a client keeps the stream if a write ended since the last check', async () => {
    const { asking, stream } = await stuck();
    readers.look();
    const drained = once(stream, 'drain');
    asking.resume();
    await drained;
    asking.pause();
    readers.look();
    stream.write(Buffer.alloc(LONG));
    readers.look();
    expect(stream.closed).toBe(false);
    readers.look();
    expect(stream.closed).toBe(true);
  });

  test('a client must read faster the more of its streams wait', async () => {
    const waiting = [await stuck(), await stuck(), await stuck()];
    const reading = await begin();
    readers.look();
    reading.asking.resume();
    reading.stream.end(Buffer.alloc(2 * LEAST));
    await once(reading.asking, 'end');
    readers.look();
    expect(waiting.map(({ stream }) => stream.closed)).toEqual([true, true, true]);
    expect(reading.stream.rstCode).toBe(NGHTTP2_NO_ERROR);
  });

  test('a client keeps the stream if the server has no data to send, and in a tunnel', async () => {
    const { stream: silent } = await begin();
    const { stream: tunnel } = await stuck('CONNECT');
    for (let looks = 0; looks < 4; looks += 1) readers.look();
    expect([silent.closed, tunnel.closed]).toEqual([false, false]);
  });

  test('a client is not checked after it has disconnected', async () => {
    await stuck();
    readers.look();
    client.destroy();
    session.destroy();
    expect(() => readers.look()).not.toThrow();
  });
});

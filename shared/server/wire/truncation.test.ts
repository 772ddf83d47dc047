import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { BadRequest } from '#shared/http/fields.ts';
import { silentLog } from '#shared/base/log.ts';
import { contentOf } from '../content/content.ts';
import { contentOn, frame, headersFrame, OPENING } from './http2-frames.fixture.ts';
import { listen, type Listening, type ServerLimits } from '../listen/listen.ts';
import type { AnyHandler, AnyRequest } from '../message/message.ts';
import { TestSocket } from './test-socket.fixture.ts';

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

/** Starts a server that reads the content when a test says so, and records the results. */
async function start(limits: Partial<ServerLimits> = {}) {
  const arrived = Promise.withResolvers<AnyRequest>();
  const gate = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<unknown>();
  const handler: AnyHandler = async (request, response) => {
    arrived.resolve(request);
    await gate.promise;
    const content: Writable = response;
    try {
      outcome.resolve((await buffer(contentOf(request))).length);
      content.end('stored');
    } catch (error) {
      outcome.resolve(error);
      content.end('refused');
    }
  };
  const both = { handler, http2: { handler }, host: '127.0.0.1', port: 0, log: silentLog };
  const listening = await listen({ ...both, limits });
  open.push(listening);
  return { client: new TestSocket(listening), arrived, read: gate.resolve, outcome };
}

const put = (length?: string) =>
  headersFrame(
    1,
    [
      [':method', 'PUT'],
      [':scheme', 'http'],
      [':authority', 'a'],
      [':path', '/'],
      ...(length === undefined ? [] : [['content-length', length] as const]),
    ],
    { endStream: false },
  );
const ten = frame(0, 0, 1, Buffer.alloc(10));
const lastTen = frame(0, 1, 1, Buffer.alloc(10));
const reset = (code: number) => frame(3, 0, 1, Buffer.from([0, 0, 0, code]));
const HTTP1 = 'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n';

const BREAKS: readonly (readonly [string, Buffer, Buffer])[] = [
  ['RST_STREAM NO_ERROR', put(), reset(0)],
  ['RST_STREAM CANCEL', put(), reset(8)],
  ['RST_STREAM NO_ERROR after an announced length', put('100'), reset(0)],
  ['fewer octets than announced (section 8.1.1)', put('100'), lastTen],
  ['more octets than announced (section 8.1.1)', put('15'), lastTen],
  ['GOAWAY, and the end of the connection', put(), frame(7, 0, 0, Buffer.alloc(8))],
];

describe('RFC 9113 section 8.1: content that a client cuts off is never read as complete', () => {
  test.each(BREAKS)(
    'content cut off by %s while it is read gives an error',
    async (_, head, end) => {
      const { client, arrived, read, outcome } = await start();
      client.socket.write(Buffer.concat([OPENING, head, ten]));
      const request = await arrived.promise;
      read();
      while (request.readableFlowing === null && request.readableLength === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      client.socket.end(end);
      expect(await outcome.promise).toBeInstanceOf(BadRequest);
    },
  );

  test.each(BREAKS)(
    'content cut off by %s before the handler reads it gives an error',
    async (_, head, end) => {
      const { client, arrived, read, outcome } = await start();
      client.socket.write(Buffer.concat([OPENING, head, ten]));
      const request = await arrived.promise;
      const gone = new Promise((resolve) => void request.once('close', resolve));
      client.socket.end(end);
      await gone;
      read();
      expect(await outcome.promise).toBeInstanceOf(BadRequest);
    },
  );

  test('content that the server cuts off is not read as complete, and gets one answer', async () => {
    const { client, read, outcome } = await start({ pace: { bytes: 100, milliseconds: 20 } });
    client.socket.write(Buffer.concat([OPENING, put(), ten]));
    read();
    expect(await outcome.promise).toBeInstanceOf(BadRequest);
    expect(contentOn(1, client.received)).toContain('"status":408');
    expect(contentOn(1, client.received)).not.toContain('refused');
    client.socket.destroy();
  });

  test('complete content is read as complete', async () => {
    const { client, read, outcome } = await start();
    client.socket.write(Buffer.concat([OPENING, put('20'), ten, lastTen]));
    read();
    expect(await outcome.promise).toBe(20);
    client.socket.destroy();
  });
});

describe('RFC 9112 section 8: content that is cut off over HTTP/1.1 is never read as complete', () => {
  test.each(['while it is read', 'before anybody has begun to read'])(
    'content that the client cuts off gives an error, %s',
    async (when) => {
      const { client, arrived, read, outcome } = await start();
      client.socket.write(HTTP1);
      const request = await arrived.promise;
      const gone = new Promise((resolve) => void request.once('close', resolve));
      request.on('error', () => {});
      if (when.startsWith('while')) read();
      client.socket.resetAndDestroy();
      await gone;
      read();
      expect(await outcome.promise).toBeInstanceOf(BadRequest);
    },
  );

  test('an answer that the server cuts off is not read as complete', async () => {
    const { client, read, outcome } = await start({ pace: { bytes: 100, milliseconds: 20 } });
    client.socket.write(HTTP1);
    read();
    expect(await client.all).toMatch(/^HTTP\/1\.1 408 /);
    expect(await outcome.promise).toBeInstanceOf(BadRequest);
  });
});

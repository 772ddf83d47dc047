import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { contentWithin } from '../../../resources/content/upload.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

let made = 0;
const fresh = () => `/documents/upload-${++made}`;
const put = (path: string, body: string, headers = {}) => rs.as('PUT', path, { body, headers });
const get = (path: string) => rs.as('GET', path);

test('RFC 9110 section 14.5: an upload with Content-Range is 400', async () => {
  expect((await put(fresh(), 'x', { 'Content-Range': 'bytes 0-0/1' })).status).toBe(400);
});

test('RFC 9110 section 15.5.16: an upload with a content coding is 415, and the answer names the accepted coding', async () => {
  const reply = await put(fresh(), 'x', { 'Content-Encoding': 'gzip' });
  expect(reply.status).toBe(415);
  expect(reply.headers['accept-encoding']).toBe('identity');
});

test('RFC 9110 section 15.5.14: an upload whose Content-Length is too large is 413 before any content is read', async () => {
  const socket = new TestSocket(rs.listening);
  const token = rs.token('documents:write');
  await socket.send(
    `PUT ${fresh()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
      'Expect: 100-continue\r\nContent-Length: 100001\r\n\r\n',
  );
  const answer = await socket.all;
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(answer).not.toContain('100 Continue');
});

test('an upload of the allowed length is stored; a longer one without Content-Length is 413 and leaves no file', async () => {
  const path = fresh();
  const chunked = (bytes: number) => Readable.from([Buffer.alloc(bytes - 1), Buffer.alloc(1)]);
  expect((await rs.as('PUT', path, { body: chunked(100_000) })).status).toBe(201);
  const contents = await rs.contents();
  expect((await rs.as('PUT', path, { body: chunked(100_001) })).status).toBe(413);
  expect((await rs.as('PUT', path, { body: chunked(5_000_000) })).status).toBe(413);
  expect(await rs.contents()).toEqual(contents);
  expect((await get(path)).headers['content-length']).toBe('100000');
});

const LONG = 'x'.repeat(20_000);
test.each([
  ['by length', `Content-Length: 20001\r\n\r\n${LONG}`],
  ['in chunks', `Transfer-Encoding: chunked\r\n\r\n4e21\r\n${LONG}`],
])('an upload that is cut off (%s) leaves neither document nor content file', async (_, rest) => {
  const path = fresh();
  const files = await rs.files();
  const socket = new TestSocket(rs.listening);
  const token = rs.token('documents:write');
  await socket.send(
    `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${rest}`,
  );
  while ((await rs.files()).length === files.length)
    await new Promise((next) => setImmediate(next));
  socket.socket.destroy();
  while ((await rs.files()).length > files.length) await new Promise((next) => setImmediate(next));
  expect((await get(path)).status).toBe(404);
});

test.each([
  ['by length', 'Content-Length: 10\r\n\r\nabc'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nabc'],
])(
  'a short upload that is cut off (%s) leaves neither document nor content file',
  async (_, rest) => {
    const path = fresh();
    const contents = await rs.contents();
    const socket = new TestSocket(rs.listening);
    const token = rs.token('documents:write');
    await socket.send(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${rest}`,
    );
    const logged = () => rs.lines.some((line) => line.includes(path));
    socket.socket.destroy();
    while (!logged()) await new Promise((next) => setImmediate(next));
    expect(await rs.contents()).toEqual(contents);
    expect((await get(path)).status).toBe(404);
  },
);

test('during an outage of the store an upload is 503 with Retry-After, and the document is unchanged', async () => {
  let down = false;
  const failing = (stores: Stores): Stores => ({
    ...stores,
    trees: {
      ...stores.trees,
      async commit(...args) {
        if (down) throw new StoreUnavailable('gone');
        return stores.trees.commit(...args);
      },
    },
  });
  await using broken = await startResourceServer({}, failing);
  await broken.as('PUT', '/documents/a', { body: 'old' });
  down = true;
  const reply = await broken.as('PUT', '/documents/a', { body: 'new' });
  expect(reply.status).toBe(503);
  expect(reply.headers['retry-after']).toBe('1');
  expect((await broken.as('GET', '/documents/a')).text).toBe('old');
});

test('RFC 4331 section 6: an upload over the quota is 507 with its condition, and the old document stays', async () => {
  await using small = await startResourceServer({
    documents: { maxBytes: 100, quota: { bytes: 100 } },
  });
  await small.as('PUT', '/documents/a', { body: 'x'.repeat(60) });
  const contents = await small.contents();
  const reply = await small.as('PUT', '/documents/b', { body: 'x'.repeat(60) });
  expect(reply.status).toBe(507);
  expect(reply.text).toContain('quota-not-exceeded');
  expect(await small.contents()).toEqual(contents);
  expect((await small.as('PUT', '/documents/a', { body: 'y'.repeat(100) })).status).toBe(204);
  expect((await small.as('PUT', '/documents/a', { body: '' })).status).toBe(204);
});

describe('RFC 4331 section 6: an upload over the quota is refused before its content is sent', () => {
  const small = () =>
    startResourceServer({ documents: { maxBytes: 100_000, quota: { bytes: 100_000 } } });
  const head = (of: TestResourceServer, request: string, fields: string) =>
    `${request} HTTP/1.1\r\nHost: localhost\r\n` +
    `Authorization: Bearer ${of.token('documents:write')}\r\n${fields}\r\n\r\n`;

  test.each(['PUT /documents/b', 'POST /documents/'])(
    'a %s over the quota is 507 by its Content-Length, before any content is read',
    async (request) => {
      await using tight = await small();
      await tight.as('PUT', '/documents/a', { body: Buffer.alloc(60_000) });
      const socket = new TestSocket(tight.listening);
      await socket.send(head(tight, request, 'Expect: 100-continue\r\nContent-Length: 40001'));
      const answer = await socket.all;
      expect(answer).toMatch(/^HTTP\/1.1 507 /);
      expect(answer).toContain('quota-not-exceeded');
      expect(answer).not.toContain('100 Continue');
      const fits = Buffer.alloc(40_000);
      const [method = '', path = ''] = request.split(' ');
      expect((await tight.as(method, path, { body: fits })).status).toBe(201);
    },
  );

  test.each(['PUT /documents/b', 'POST /documents/'])(
    'a %s over the quota is 507 during endless chunks, and no file stays',
    async (request) => {
      await using tight = await small();
      await tight.as('PUT', '/documents/a', { body: Buffer.alloc(60_000) });
      const contents = await tight.contents();
      const socket = new TestSocket(tight.listening);
      await socket.send(head(tight, request, 'Transfer-Encoding: chunked'));
      const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`;
      for (let sent = 0; sent < 5; sent += 1) await socket.send(chunk);
      expect(await socket.until('quota-not-exceeded')).toMatch(/^HTTP\/1.1 507 /);
      expect(await tight.contents()).toEqual(contents);
      socket.socket.destroy();
    },
  );

  test('the size of the replaced document is subtracted from the use, even if the quota was lowered', async () => {
    await using tight = await small();
    const write = (path: string, length: number) =>
      tight.as('PUT', `/documents/${path}`, { body: Buffer.alloc(length) });
    await write('a', 60_000);
    await write('b', 40_000);
    expect((await write('a', 60_001)).status).toBe(507);
    expect((await write('a', 60_000)).status).toBe(204);
    const quota = { bytes: 50_000, entries: 10 };
    const usage = { bytes: 100_000 };
    const length = (bytes: number) => ({ rawHeaders: ['Content-Length', String(bytes)] });
    const ask = (bytes: number, replaced?: number) => () =>
      contentWithin(
        Object.assign(new IncomingMessage(new Socket()), length(bytes)),
        quota,
        usage,
        replaced,
      );
    expect(ask(60_000, 60_000)).not.toThrow();
    expect(ask(60_001, 60_000)).toThrow('no room');
    expect(ask(0)).not.toThrow();
    expect(ask(1)).toThrow('no room');
  });

  test('ten concurrent chunked uploads never exceed the quota', async () => {
    await using tight = await small();
    const body = () => Readable.from(Array.from({ length: 3 }, () => Buffer.alloc(10_000)));
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        tight.as('PUT', `/documents/${index}`, { body: body() }),
      ),
    );
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, 201, 201, 507, 507, 507, 507, 507, 507, 507]);
    expect(await tight.contents()).toHaveLength(3);
  });
});

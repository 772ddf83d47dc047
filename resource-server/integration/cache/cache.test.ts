import type { OutgoingHttpHeaders, RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';

let answers = 0;
/** The fields of the application's answers. */
let fields: OutgoingHttpHeaders = {};
let status = 200;
let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
/** The requests that reached the application. */
const asked: string[] = [];

beforeAll(async () => {
  const answer: RequestListener = (request, response) => {
    const { method, url, headers } = request;
    asked.push(`${method} ${url}`);
    const isCurrent = fields['ETag'] !== undefined && headers['if-none-match'] === fields['ETag'];
    response.writeHead(isCurrent ? 304 : status, {
      Date: new Date(gateway.clock.now()).toUTCString(),
      ...fields,
    });
    response.end(isCurrent ? undefined : `answer ${++answers}`);
  };
  application = await startApplication(answer);
  gateway = await startGateway(
    {
      shop: {
        upstream: { url: application.url },
        schemes: [],
        scopes: {},
        cache: { purge: { networks: ['127.0.0.0/8'] } },
        cors: { origins: [] },
      },
    },
    { trustedProxies: [] },
  );
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

let tests = 0;
beforeEach(() => {
  asked.length = 0;
  answers = 0;
  tests += 1;
  status = 200;
  fields = { 'Cache-Control': 'max-age=60' };
});

const FIRST = { text: 'answer 1' };

/** Sends a request for a path that no other test uses. */
const ask = (method: string, headers: OutgoingHttpHeaders = {}, path = '') =>
  gateway.ask(method, `/shop/${tests}${path}`, { headers });
const get = (headers?: OutgoingHttpHeaders) => ask('GET', headers);
const handling = async (headers?: OutgoingHttpHeaders) =>
  (await get(headers)).headers['cache-status'];

test('fields about the whole origin from a space below the root are neither passed on nor stored', async () => {
  fields = { 'Cache-Control': 'max-age=60', 'Clear-Site-Data': '"*"', NEL: '{}' };
  for (const kept of [/stored/, /hit/]) {
    const { headers } = await get();
    expect(headers['cache-status']).toMatch(kept);
    expect([headers['clear-site-data'], headers['nel']]).toEqual([undefined, undefined]);
  }
});

test.each([-7200, 7200])(
  'a clock that is set by %s s makes no stale answer fresh and no age negative',
  async (seconds) => {
    fields = { 'Cache-Control': 'max-age=60', ETag: '"1"' };
    await get();
    gateway.clock.set(seconds);
    try {
      expect(await handling()).toMatch('fwd=stale; fwd-status=304; ttl=60');
      gateway.clock.advance(59);
      const hit = await get();
      expect([hit.headers.age, hit.text]).toEqual(['59', 'answer 1']);
      await ask('POST');
      expect(await handling()).toBe('Countersign; fwd=uri-miss; stored');
    } finally {
      gateway.clock.set(-seconds);
    }
    // An answer from before the clock was set back has an unknown age.
    expect(await handling()).toMatch('fwd=stale; fwd-status=304');
    expect((await get()).headers.age).toBe('0');
  },
);

test('RFC 9111 section 4: a fresh answer is reused with its Age', async () => {
  expect(await get()).toMatchObject(FIRST);
  gateway.clock.advance(59);
  expect(await get()).toMatchObject({ ...FIRST, headers: { age: '59' } });
  gateway.clock.advance(1);
  expect(await get()).toMatchObject({ text: 'answer 2' });
});

test('RFC 9211: Cache-Status describes how each request was handled', async () => {
  const before = gateway.lines.filter((line) => line.includes('"cache":"hit"')).length;
  expect(await handling()).toBe('Countersign; fwd=uri-miss; stored');
  expect(await handling()).toBe('Countersign; hit; ttl=60');
  expect(gateway.lines.filter((line) => line.includes('"cache":"hit"'))).toHaveLength(before + 1);
  gateway.clock.advance(60);
  expect(await handling()).toBe('Countersign; fwd=stale; stored');
  fields = { 'Cache-Control': 'no-store' };
  expect(await handling({ 'Cache-Control': 'no-cache' })).toContain('fwd=request; detail=no-store');
  expect((await ask('POST')).headers['cache-status']).toBe('Countersign; fwd=method');
});

test('a stored answer to GET answers HEAD', async () => {
  await get();
  expect(await ask('HEAD')).toMatchObject({ text: '', headers: { 'content-length': '8' } });
  expect(asked).toHaveLength(1);
});

test('RFC 9111 section 4.3.2: conditions of clients are evaluated against the stored answer', async () => {
  fields['ETag'] = '"a"';
  await get();
  expect(await get({ 'If-None-Match': '"a"' })).toMatchObject({ status: 304, text: '' });
  expect(await get({ 'If-None-Match': '"b"' })).toMatchObject({ status: 200, ...FIRST });
  expect(await get({ Range: 'bytes=0-2' })).toMatchObject({ status: 206, text: 'ans' });
  expect(asked).toHaveLength(1);
});

test('RFC 9111 section 4.3: a stale answer is validated and becomes fresh', async () => {
  fields['ETag'] = '"a"';
  await get();
  gateway.clock.advance(60);
  expect(await handling()).toBe('Countersign; fwd=stale; fwd-status=304; ttl=60');
  expect(await get()).toMatchObject(FIRST);
  expect(asked).toHaveLength(2);
});

test('RFC 9111 section 5.2.2.4: fields that must not be stored reach only the client that caused the request', async () => {
  fields = { 'Cache-Control': 'max-age=60, no-cache="x-mine"', 'X-Mine': '1' };
  expect((await get()).headers['x-mine']).toBe('1');
  expect((await get()).headers['x-mine']).toBeUndefined();
});

test('RFC 9111 section 4.1: an answer is reused for requests with equal varying fields', async () => {
  fields['Vary'] = 'Accept-Language';
  expect(await get({ 'Accept-Language': 'de' })).toMatchObject(FIRST);
  expect(await get({ 'Accept-Language': 'en' })).toMatchObject({ text: 'answer 2' });
  expect(await get({ 'Accept-Language': 'de' })).toMatchObject(FIRST);
});

test.each(['PUT', 'POST', 'PATCH', 'DELETE', 'MKCOL'])(
  'RFC 9111 section 4.4: %s removes the stored answers, unless the request fails',
  async (method) => {
    await get();
    status = 403;
    await ask(method);
    expect(await get()).toMatchObject(FIRST);
    status = 200;
    await ask(method);
    expect((await get()).text).not.toBe(FIRST.text);
  },
);

test('RFC 9111 section 5.2.1.7: only-if-cached without a stored answer is 504', async () => {
  expect(await get({ 'Cache-Control': 'only-if-cached' })).toMatchObject({ status: 504 });
  await get();
  expect(await get({ 'Cache-Control': 'only-if-cached' })).toMatchObject(FIRST);
});

test('RFC 5861: a stale answer is used during its refresh, and in place of an error', async () => {
  fields = { 'Cache-Control': 'max-age=1, stale-while-revalidate=10, stale-if-error=100' };
  await get();
  gateway.clock.advance(5);
  expect(await get()).toMatchObject(FIRST);
  while (asked.length < 2) await new Promise(setImmediate);
  while ((await get()).text !== 'answer 2') await new Promise(setImmediate);
  gateway.clock.advance(50);
  status = 503;
  expect(await get()).toMatchObject({ status: 200, text: 'answer 2' });
});

test('RFC 9111 section 4.2.4: a stale answer replaces a missing answer for a day, unless it forbids that', async () => {
  await get();
  gateway.clock.advance(100);
  fields = { 'Transfer-Encoding': 'gzip, chunked' }; // a coding that the gateway does not decode
  expect(await get()).toMatchObject({ status: 200, ...FIRST });
  gateway.clock.advance(86_400);
  expect(await get()).toMatchObject({ status: 502 });
  fields = { 'Cache-Control': 'max-age=60, must-revalidate' };
  await get();
  gateway.clock.advance(100);
  fields = { 'Transfer-Encoding': 'gzip, chunked' };
  expect(await get()).toMatchObject({ status: 502 });
});

test('PURGE evicts every spelling of an address', async () => {
  await ask('GET', {}, '/a');
  await ask('GET', {}, '/%61');
  expect(JSON.parse((await ask('PURGE', {}, '/a')).text)).toMatchObject({ evicted: 2 });
  expect(await ask('PURGE', {}, '/a')).toMatchObject({ status: 404 });
});

import { describe, expect, test } from '@jest/globals';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { attacked } from './attacks.fixture.ts';

const at = attacked({ open: {} });
const { told, does, answers, ask, get } = at;
const FRESH = { 'Cache-Control': 'max-age=60' };

let paths = 0;
const fresh = () => `/open/${(paths += 1)}`;
const TEXT = { 'Content-Type': 'text/plain' };
const query = (path: string, body: string | Buffer, headers = {}) =>
  ask('QUERY', path, {
    headers: { ...TEXT, 'Content-Length': Buffer.byteLength(body), ...headers },
    body,
  });

/** Answers with the method and content of the request. */
function echoes(fields: Readonly<Record<string, string>> = {}) {
  does((request: IncomingMessage, response) => {
    void (async () => {
      const content = await buffer(request);
      const {
        'content-type': type,
        'content-language': language,
        'content-encoding': coding,
      } = request.headers;
      for (const [name, value] of Object.entries({ ...FRESH, ...fields }))
        response.setHeader(name, value);
      response.end(
        JSON.stringify([request.method, type, language, coding, content.toString('hex')]),
      );
    })();
  });
}

describe('QUERY (RFC 10008 section 2.7)', () => {
  test('a QUERY with equal content and description gets the stored answer', async () => {
    echoes();
    const path = fresh();
    const [one, other] = [await query(path, 'q'), await query(path, 'q')];
    expect(other.text).toBe(one.text);
    expect(told).toHaveLength(1);
  });

  test.each([
    ['content', 'r', {}],
    ['type', 'q', { 'Content-Type': 'text/html' }],
    ['parameter', 'q', { 'Content-Type': 'text/plain; charset=utf-8' }],
    ['language', 'q', { 'Content-Language': 'de' }],
    ['unknown coding', 'q', { 'Content-Encoding': 'own' }],
    ['invalid coding', 'q', { 'Content-Encoding': 'gzip' }],
    ['no-transform', 'q', { 'Cache-Control': 'no-transform' }],
  ])('a QUERY with another %s does not get the stored answer', async (_, body, headers) => {
    echoes();
    const path = fresh();
    await query(path, 'q');
    await query(path, body, headers);
    expect(told).toHaveLength(2);
  });

  test('the content coding is removed only for the cache key, unless the client forbids transformations', async () => {
    echoes();
    const path = fresh();
    const coded = gzipSync('q');
    expect(JSON.parse((await query(path, coded, { 'Content-Encoding': 'gzip' })).text)).toEqual([
      'QUERY',
      'text/plain',
      null,
      'gzip',
      coded.toString('hex'),
    ]);
    await query(path, 'q');
    await query(path, brotliCompressSync('q'), { 'Content-Encoding': 'br' });
    expect(told).toHaveLength(1);
    await query(path, coded, { 'Content-Encoding': 'gzip', 'Cache-Control': 'no-transform' });
    expect(told).toHaveLength(2);
    const two = Buffer.concat([gzipSync(''), coded]);
    await query(path, two, { 'Content-Encoding': 'gzip' });
    expect(told).toHaveLength(3);
  });

  test('an answer to QUERY never answers GET', async () => {
    const path = fresh();
    const named = `/${paths}`;
    echoes({ 'Content-Location': named, Location: named });
    await query(path, 'q');
    expect(JSON.parse((await get(path)).text)[0]).toBe('GET');
    await query(path, 'q', { 'X-Any': 'a' });
    expect(told.map(({ method }) => method)).toEqual(['QUERY', 'GET']);
  });

  test('a QUERY with content too long for the cache is passed on completely', async () => {
    echoes();
    const path = fresh();
    const long = 'x'.repeat(70_000);
    for (let count = 0; count < 2; count += 1) {
      expect(JSON.parse((await query(path, long)).text)[4]).toHaveLength(140_000);
    }
    expect(told).toHaveLength(2);
  });

  test('an invalidation of a target removes all its answers to QUERY', async () => {
    echoes();
    const path = fresh();
    await query(path, 'q');
    await ask('PUT', path, { headers: { 'Content-Length': '1' }, body: 'x' });
    await query(path, 'q');
    expect(told).toHaveLength(3);
  });
});

describe.each(['POST', 'PATCH'])(
  'RFC 9110 section 9.3.3, RFC 5789 section 2: an answer to %s',
  (method) => {
    const change = (path: string) =>
      ask(method, path, { headers: { 'Content-Length': '1' }, body: 'x' });
    const says = (fields: Readonly<Record<string, string>>) =>
      answers(fields, ({ method: by }) => String(by));

    test('an answer with its target in Content-Location and a lifetime answers GET and HEAD, and no other method', async () => {
      const path = fresh();
      says({ ...FRESH, 'Content-Location': `/${paths}` });
      await change(path);
      expect((await get(path)).text).toBe(method);
      expect((await ask('HEAD', path)).status).toBe(200);
      await query(path, 'x');
      await change(path);
      expect(told.map(({ method: by }) => by)).toEqual([method, 'QUERY', method]);
    });

    test.each([
      ['another target', { ...FRESH, 'Content-Location': '/other' }],
      ['another host', { ...FRESH, 'Content-Location': 'http://evil.example/open/x' }],
      ['no target', FRESH],
      ['no lifetime', { 'Content-Location': 'SELF', 'Cache-Control': 'public', ETag: '"x"' }],
      [
        'a cookie',
        {
          'Content-Location': 'SELF',
          'Cache-Control': 'no-cache',
          ETag: '"x"',
          'Set-Cookie': 'a=b',
        },
      ],
      ['who may see it', { 'Content-Location': 'SELF', 'Cache-Control': 'private, max-age=60' }],
    ])('an answer with %s does not answer GET', async (_, fields) => {
      const path = fresh();
      const own = Object.entries(fields).map(([name, value]) => [
        name,
        value.replace('SELF', `/${paths}`),
      ]);
      says(Object.fromEntries(own));
      await change(path);
      expect((await get(path)).text).toBe('GET');
      expect((await get('/open/other')).text).toBe('GET');
      await ask('DELETE', '/open/other');
    });
  },
);

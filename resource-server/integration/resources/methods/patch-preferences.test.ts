import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const REPRESENTATION = { Prefer: 'return=representation' };
const MERGE = { 'Content-Type': 'application/merge-patch+json' };

const put = (path: string, body: string, headers: OutgoingHttpHeaders = {}) =>
  rs.as('PUT', path, { body, headers: { 'Content-Type': 'application/json', ...headers } });
const patch = (path: string, value: unknown, headers: OutgoingHttpHeaders = {}) =>
  rs.as('PATCH', path, { body: JSON.stringify(value), headers: { ...MERGE, ...headers } });

let made = 0;
/** Creates a new document, and resolves to its path. */
async function stored(content = '{"a":1}', type = 'application/json'): Promise<string> {
  const path = `/documents/preferred-${++made}.json`;
  expect((await put(path, content, { 'Content-Type': type })).status).toBe(201);
  return path;
}

/** The fields that describe the content, without those of the message. */
function described({ headers }: Reply): OutgoingHttpHeaders {
  const { date: _, 'cache-control': freshness, ...rest } = headers;
  const { 'preference-applied': _a, 'content-location': _c, location: _l, ...shared } = rest;
  for (const name of Object.keys(shared)) if (name.startsWith('ratelimit')) delete shared[name];
  delete shared['x-request-id'];
  return { ...shared, 'cache-control': freshness?.replace(', max-age=0', '') };
}

describe('RFC 7240 section 4.2: return=representation', () => {
  test('a PATCH with return=representation is 200 with the document as GET sends it, and its Content-Location', async () => {
    const path = await stored('{"a":1}', 'application/vnd.example+json; v="1"');
    rs.clock.advance(2);
    const reply = await patch(path, { b: 'é' }, REPRESENTATION);
    expect(reply).toMatchObject({ status: 200, text: '{"a":1,"b":"é"}' });
    expect(reply.headers).toMatchObject({
      'preference-applied': 'return=representation',
      'content-location': path,
      'content-type': 'application/vnd.example+json; v="1"',
      'content-length': '16',
    });
    expect(reply.headers.location).toBeUndefined();
    const after = await rs.as('GET', path);
    expect(after.text).toBe(reply.text);
    expect(described(reply)).toEqual(described(after));
  });

  test('RFC 5789 section 2: the answer to PATCH has explicit freshness, so that caches store it for GET and revalidate it', async () => {
    const path = await stored();
    const reply = await patch(path, { b: 2 }, REPRESENTATION);
    expect(reply.headers['cache-control']).toBe('private, no-cache, max-age=0');
    const again = await rs.as('GET', path, { headers: { 'If-None-Match': reply.headers.etag } });
    expect(again.status).toBe(304);
    await patch(path, { b: 3 });
    const changed = await rs.as('GET', path, { headers: { 'If-None-Match': reply.headers.etag } });
    expect(changed).toMatchObject({ status: 200, text: '{"a":1,"b":3}' });
  });

  test('a PATCH that creates a document is 201 with the document and Location', async () => {
    const path = `/documents/preferred-${++made}.json`;
    const reply = await patch(path, { a: 1 }, REPRESENTATION);
    expect(reply).toMatchObject({ status: 201, text: '{"a":1}' });
    expect(reply.headers).toMatchObject({
      location: `${RESOURCE}${path}`,
      'content-location': path,
      'preference-applied': 'return=representation',
    });
    expect(described(reply)).toEqual(described(await rs.as('GET', path)));
  });

  test.each([
    ['preferred+a,b.json', '/documents/preferred+a,b.json'],
    ['preferred%2ba%20%c3%a4', '/documents/preferred+a%20%C3%A4'],
    ['pre%66erred-e%CC%81', '/documents/preferred-e%CC%81'],
  ])(
    'RFC 9110 section 8.7: Content-Location is %s, the target in its normal form',
    async (name, location) => {
      const reply = await patch(`/documents/${name}`, { a: 1 }, REPRESENTATION);
      expect(reply.headers['content-location']).toBe(location);
      expect((await rs.as('GET', location)).text).toBe('{"a":1}');
    },
  );

  test('Content-Location does not repeat a query component, which may contain a key', async () => {
    const path = await stored();
    const reply = await patch(`${path}?key=secret`, { b: 2 }, REPRESENTATION);
    expect(reply.headers['content-location']).toBe(path);
  });

  test('conditions of a PATCH with return=representation apply to the state before it', async () => {
    const path = await stored();
    const { etag } = (await rs.as('GET', path)).headers;
    const done = await patch(path, { b: 2 }, { ...REPRESENTATION, 'If-Match': etag });
    expect(done).toMatchObject({ status: 200, text: '{"a":1,"b":2}' });
    const refused = await patch(path, { b: 3 }, { ...REPRESENTATION, 'If-Match': etag });
    expect(refused.status).toBe(412);
    expect(refused.headers['preference-applied']).toBeUndefined();
    expect(refused.headers['content-location']).toBeUndefined();
  });

  test('RFC 9110 section 14.2: PATCH ignores Range', async () => {
    const reply = await patch(await stored(), { b: 2 }, { ...REPRESENTATION, Range: 'bytes=0-1' });
    expect(reply).toMatchObject({ status: 200, text: '{"a":1,"b":2}' });
  });

  test('eight concurrent PATCHes each get the document of their own change, with its entity tag', async () => {
    const path = await stored('{}');
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) => patch(path, { [`k${n}`]: n }, REPRESENTATION)),
    );
    for (const [n, { status, text }] of replies.entries()) {
      expect(status).toBe(200);
      expect(JSON.parse(text)).toHaveProperty(`k${n}`, n);
    }
    const last = await rs.as('GET', path);
    const texts = new Map(replies.map(({ headers, text }) => [headers.etag, text]));
    expect(texts.size).toBe(8);
    expect(texts.get(last.headers.etag)).toBe(last.text);
  });
});

describe('any other preference', () => {
  test('return=minimal gives 204 as without a preference, and Preference-Applied', async () => {
    const reply = await patch(await stored(), { b: 2 }, { Prefer: 'return=minimal' });
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers['preference-applied']).toBe('return=minimal');
    expect(reply.headers['content-location']).toBeUndefined();
  });

  test.each(['return=minimal, return=representation', 'wait=10', 'return=all', 'return'])(
    'section 2: the preference %s is ignored',
    async (Prefer) => {
      const reply = await patch(await stored(), { b: 2 }, { Prefer });
      expect(reply).toMatchObject({ status: 204, text: '' });
      expect(reply.headers['preference-applied']).toBeUndefined();
    },
  );

  test('a malformed Prefer is 400, and nothing is done', async () => {
    const path = await stored();
    expect((await patch(path, { b: 2 }, { Prefer: 'return="minimal' })).status).toBe(400);
    expect((await rs.as('GET', path)).text).toBe('{"a":1}');
  });

  test('PUT ignores preferences, since the client knows the content that it sent', async () => {
    const path = await stored();
    const reply = await put(path, '{"a":2}', REPRESENTATION);
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers['preference-applied']).toBeUndefined();
  });
});

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
/** A document of its own. */
async function stored(content = '{"a":1}', type = 'application/json'): Promise<string> {
  const path = `/documents/preferred-${++made}.json`;
  expect((await put(path, content, { 'Content-Type': type })).status).toBe(201);
  return path;
}

/** All that says something of what is sent; others are of the message. */
function described({ headers }: Reply): OutgoingHttpHeaders {
  const { date: _, 'cache-control': freshness, ...rest } = headers;
  const { 'preference-applied': _a, 'content-location': _c, location: _l, ...shared } = rest;
  for (const name of Object.keys(shared)) if (name.startsWith('ratelimit')) delete shared[name];
  delete shared['x-request-id'];
  return { ...shared, 'cache-control': freshness?.replace(', max-age=0', '') };
}

describe('RFC 7240 section 4.2: return=representation', () => {
  test('200 with the document as GET sends it then, and where that is', async () => {
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

  test('RFC 5789 section 2: its freshness is explicit, so that it may be kept for GET, and asked for again', async () => {
    const path = await stored();
    const reply = await patch(path, { b: 2 }, REPRESENTATION);
    expect(reply.headers['cache-control']).toBe('private, no-cache, max-age=0');
    const again = await rs.as('GET', path, { headers: { 'If-None-Match': reply.headers.etag } });
    expect(again.status).toBe(304);
    await patch(path, { b: 3 });
    const changed = await rs.as('GET', path, { headers: { 'If-None-Match': reply.headers.etag } });
    expect(changed).toMatchObject({ status: 200, text: '{"a":1,"b":3}' });
  });

  test('201 of what is new, with Location as well', async () => {
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

  test('a query component, in which there may be a key, is not repeated', async () => {
    const path = await stored();
    const reply = await patch(`${path}?key=secret`, { b: 2 }, REPRESENTATION);
    expect(reply.headers['content-location']).toBe(path);
  });

  test('conditions are about what was there before', async () => {
    const path = await stored();
    const { etag } = (await rs.as('GET', path)).headers;
    const done = await patch(path, { b: 2 }, { ...REPRESENTATION, 'If-Match': etag });
    expect(done).toMatchObject({ status: 200, text: '{"a":1,"b":2}' });
    const refused = await patch(path, { b: 3 }, { ...REPRESENTATION, 'If-Match': etag });
    expect(refused.status).toBe(412);
    expect(refused.headers['preference-applied']).toBeUndefined();
    expect(refused.headers['content-location']).toBeUndefined();
  });

  test('RFC 9110 section 14.2: Range means nothing to PATCH', async () => {
    const reply = await patch(await stored(), { b: 2 }, { ...REPRESENTATION, Range: 'bytes=0-1' });
    expect(reply).toMatchObject({ status: 200, text: '{"a":1,"b":2}' });
  });

  test('eight at once are each sent what they have made, by its own tag', async () => {
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
  test('return=minimal: 204, as without it, and told so', async () => {
    const reply = await patch(await stored(), { b: 2 }, { Prefer: 'return=minimal' });
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers['preference-applied']).toBe('return=minimal');
    expect(reply.headers['content-location']).toBeUndefined();
  });

  test.each(['return=minimal, return=representation', 'wait=10', 'return=all', 'return'])(
    'section 2: %s is ignored',
    async (Prefer) => {
      const reply = await patch(await stored(), { b: 2 }, { Prefer });
      expect(reply).toMatchObject({ status: 204, text: '' });
      expect(reply.headers['preference-applied']).toBeUndefined();
    },
  );

  test('one that is no list is 400, and nothing is done', async () => {
    const path = await stored();
    expect((await patch(path, { b: 2 }, { Prefer: 'return="minimal' })).status).toBe(400);
    expect((await rs.as('GET', path)).text).toBe('{"a":1}');
  });

  test('PUT ignores them: the client has what it has sent', async () => {
    const path = await stored();
    const reply = await put(path, '{"a":2}', REPRESENTATION);
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers['preference-applied']).toBeUndefined();
  });
});

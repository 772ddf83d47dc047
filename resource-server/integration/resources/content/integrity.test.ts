import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { LOCK_INFO } from '../webdav/locking.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const digestOf = (content: string) => `sha-256=:${hash('sha256', content, 'base64')}:`;
const NOTE = '/documents/note';
const XML = 'application/xml';
const SET =
  '<propertyupdate xmlns="DAV:"><set><prop><a xmlns="x:">1</a></prop></set></propertyupdate>';

/** Every method with content: [method, path, type, content, status for right content]. */
const REQUESTS: readonly (readonly [string, string, string, string, number])[] = [
  ['PUT', NOTE, 'application/json', '{"a":2}', 204],
  ['PUT', '/documents/new', 'text/plain', 'new', 201],
  ['POST', '/documents/', 'text/plain', 'posted', 201],
  ['PATCH', NOTE, 'application/merge-patch+json', '{"a":3}', 204],
  ['QUERY', NOTE, 'application/jsonpath', '$.a', 200],
  ['PROPFIND', NOTE, XML, '<propfind xmlns="DAV:"><allprop/></propfind>', 207],
  ['PROPPATCH', NOTE, XML, SET, 207],
  ['LOCK', '/documents/locked', XML, LOCK_INFO(), 201],
];

describe.each(REQUESTS)('%s %s', (method, path, type, content, status) => {
  const send = (headers: Readonly<Record<string, string>>, body: string | Readable = content) =>
    rs.as(method, path, { headers: { 'Content-Type': type, ...headers }, body });

  test('RFC 9530: a request with the digest of other content is 400, and changes nothing', async () => {
    await rs.as('DELETE', '/documents/new');
    await rs.as('PUT', NOTE, { headers: { 'Content-Type': 'application/json' }, body: '{"a":1}' });
    const before = await rs.stores.trees.below('/documents', '', 1000);
    const kept = await rs.contents();
    for (const name of ['Content-Digest', 'Repr-Digest']) {
      const wrong = { [name]: digestOf('another') };
      expect((await send(wrong)).status).toBe(400);
      expect((await send(wrong, Readable.from([content]))).status).toBe(400); // chunked
      expect((await send({ [name]: 'sha-256=nonsense' })).status).toBe(400);
    }
    expect(await rs.stores.trees.below('/documents', '', 1000)).toEqual(before);
    expect(await rs.contents()).toEqual(kept);
  });

  test('a request with the right digest is done', async () => {
    const whole = { 'Content-Digest': digestOf(content), 'Repr-Digest': digestOf(content) };
    expect((await send({ ...whole, 'Upload-Draft-Interop-Version': '6' })).status).toBe(status);
  });
});

test('a long content with a wrong digest leaves no file', async () => {
  const files = await rs.files();
  const headers = { 'Content-Digest': digestOf('another') };
  const reply = await rs.as('PUT', '/documents/long', { headers, body: 'x'.repeat(90_000) });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('Content-Digest')]);
  expect(await rs.files()).toEqual(files);
  expect((await rs.as('GET', '/documents/long')).status).toBe(404);
});

describe('a part of a document is not read as the whole document', () => {
  test.each([
    ['Content-Range', 'bytes 0-3/8'], // Content-Range of RFC 9110 section 14.5
    ['Content-Range', 'bytes 0-3/4'],
    ['Upload-Complete', '?0'], // draft-ietf-httpbis-resumable-upload
    ['Upload-Complete', 'no'],
    ['Upload-Incomplete', '?1'],
    ['Upload-Offset', '4'],
    ['Tus-Resumable', '1.0.0'],
  ])('a partial upload with %s: %s is refused', async (name, value) => {
    for (const [method, path] of [
      ['PUT', '/documents/part'],
      ['POST', '/documents/'],
      ['PATCH', '/documents/part'],
    ] as const) {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'text/plain';
      const headers = { 'Content-Type': type, [name]: value };
      const { status, text } = await rs.as(method, path, { headers, body: '1234' });
      expect([method, status, text.includes(name.toLowerCase())]).toEqual([method, 400, true]);
    }
    expect((await rs.as('GET', '/documents/part')).status).toBe(404);
  });

  test.each([
    { 'Upload-Draft-Interop-Version': '6', 'Upload-Complete': '?1' },
    { 'Upload-Draft-Interop-Version': '3', 'Upload-Incomplete': '?0' },
    { 'Upload-Offset': '0', 'Upload-Complete': '?1' },
  ])('a complete resumable upload is accepted: %j', async (headers) => {
    const put = await rs.as('PUT', '/documents/whole', { headers, body: '1234' });
    expect([201, 204]).toContain(put.status);
    expect((await rs.as('GET', '/documents/whole')).text).toBe('1234');
  });
});

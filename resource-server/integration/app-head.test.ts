import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spaceAt, clientOf } from './spaces-under-test.fixture.ts';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [
      spaceAt('documents'),
      spaceAt('blind', { methods: ['PUT'] }),
      spaceAt('identity', { serves: 'identity' }),
    ],
  });
  as = clientOf(rs);
  await as('PUT', '/documents/text', { headers: { 'Content-Type': 'text/plain' }, body: 'text' });
  const headers = { 'Content-Type': 'application/json' };
  await as('PUT', '/documents/data', { headers, body: '{"a":1}' });
  await as('PUT', '/blind/text', { body: 'text' });
});
afterAll(() => rs[Symbol.asyncDispose]());

describe('RFC 9110 section 9.3.2: HEAD is GET without content', () => {
  const OF_THE_MOMENT = { date: '', connection: '', 'keep-alive': '', 'x-request-id': '' };
  const comparable = ({ status, headers }: Reply) => ({ status, ...headers, ...OF_THE_MOMENT });

  type Ask = (method: string) => Promise<Reply>;
  const asking =
    (path: string, headers: Call['headers'] = {}): Ask =>
    (method) =>
      as(method, path, { headers });
  const stranger =
    (path: string, headers: Call['headers'] = {}): Ask =>
    (method) =>
      rs.ask(method, path, { headers });

  test.each<[number, string, Ask]>([
    [200, 'a document', asking('/documents/text')],
    [200, 'a document of JSON', asking('/documents/data')],
    [200, 'a collection', asking('/documents/')],
    [200, 'a collection for people', asking('/documents/', { Accept: 'text/html' })],
    [200, 'the page at /', stranger('/')],
    [200, 'metadata', stranger('/.well-known/oauth-protected-resource/documents/')],
    [200, 'health', stranger('/health/live')],
    [200, 'identity', asking('/identity/')],
    [400, 'an ambiguous path', asking('/documents/a%2fb')],
    [401, 'no credentials', stranger('/documents/text')],
    [401, 'bad credentials', stranger('/documents/', { Authorization: 'Bearer x' })],
    [404, 'nothing', asking('/documents/missing')],
    [404, 'no space', stranger('/nowhere')],
    [405, 'a space without GET', asking('/blind/text')],
    [406, 'no such form', asking('/documents/', { Accept: 'image/png' })],
    [412, 'another version', asking('/documents/text', { 'If-Match': '"x"' })],
  ])('a HEAD answered %i has the fields of GET and no content: %s', async (status, _, ask) => {
    const [get, head] = [await ask('GET'), await ask('HEAD')];
    expect(get.status).toBe(status);
    expect(comparable(head)).toEqual(comparable(get));
    expect(head.text).toBe('');
    expect(get.text).not.toBe('');
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)));
  });

  test('HEAD has the fields of a 403', async () => {
    const headers = { Authorization: `Bearer ${rs.token('documents:write')}` };
    const ask = stranger('/documents/text', headers);
    const [get, head] = [await ask('GET'), await ask('HEAD')];
    expect(get.status).toBe(403);
    expect(comparable(head)).toEqual(comparable(get));
  });

  test('HEAD has the fields of a 304', async () => {
    const { etag } = (await as('GET', '/documents/text')).headers;
    const ask = asking('/documents/text', { 'If-None-Match': etag });
    const [get, head] = [await ask('GET'), await ask('HEAD')];
    expect(get.status).toBe(304);
    expect(comparable(head)).toEqual(comparable(get));
  });

  test.each(['bytes=0-1', 'bytes=900-', 'bytes=0-0,2-2'])(
    'RFC 9110 section 14.2: HEAD ignores Range, which is only for GET: %s',
    async (range) => {
      const whole = await as('HEAD', '/documents/text');
      const head = await as('HEAD', '/documents/text', { headers: { Range: range } });
      expect(comparable(head)).toEqual(comparable(whole));
      const get = await as('GET', '/documents/text', { headers: { Range: range } });
      expect(get.status).toBe(range === 'bytes=900-' ? 416 : 206);
    },
  );
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spaceAt, clientOf } from './spaces-under-test.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [spaceAt('documents'), spaceAt('own', { tree: 'own' })],
  });
  as = clientOf(rs);
  await as('PUT', '/documents/text', { body: 'text' });
});
afterAll(() => rs[Symbol.asyncDispose]());

describe('RFC 9111 section 5.2.2.5: no cache keeps an error', () => {
  test.each<[number, string, () => Promise<Reply>]>([
    [400, 'an ambiguous path', () => as('GET', '/documents/a%2fb')],
    [400, 'a malformed field', () => as('PUT', '/documents/a', { headers: { If: 'x' } })],
    [401, 'no credentials', () => rs.ask('GET', '/documents/text')],
    [403, 'no scope', () => withScope('documents:read', 'DELETE')],
    [404, 'nothing', () => as('GET', '/documents/missing')],
    [404, 'nothing, of HEAD', () => as('HEAD', '/documents/missing')],
    [404, 'no space', () => rs.ask('GET', '/nowhere')],
    [405, 'another method', () => as('POST', '/documents/text', { body: 'x' })],
    [405, 'another method of the page at /', () => rs.ask('PUT', '/')],
    [409, 'no collection', () => as('PUT', '/documents/none/a', { body: 'x' })],
    [
      412,
      'another version',
      () => as('GET', '/documents/text', { headers: { 'If-Match': '"x"' } }),
    ],
    [414, 'a long name', () => as('GET', `/documents/${'a'.repeat(256)}`)],
    [415, 'a content coding', () => as('PUT', '/documents/a', coded)],
    [416, 'no such part', () => as('GET', '/documents/text', { headers: { Range: 'bytes=9-' } })],
    [501, 'a method known nowhere', () => rs.ask('PURGE', '/documents/text')],
  ])('status %i has Cache-Control: no-store: %s', async (status, _, ask) => {
    const reply = await ask();
    expect(reply.status).toBe(status);
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  const coded = { body: 'x', headers: { 'Content-Encoding': 'gzip' } };
  const withScope = (scope: string, method: string) => {
    const headers = { Authorization: `Bearer ${rs.token(scope)}` };
    return rs.ask(method, '/documents/text', { headers });
  };

  test('an error in a tree of one account varies like its other answers', async () => {
    const { status, headers } = await as('GET', '/own/missing');
    expect(status).toBe(404);
    expect(headers).toMatchObject({ 'cache-control': 'no-store' });
    expect(headers.vary).toContain('Authorization');
  });

  test('an answer that is not an error keeps its own Cache-Control', async () => {
    const { headers } = await as('GET', '/documents/text');
    expect(headers['cache-control']).toBe('private, no-cache');
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const ASK = 'Access-Control-Request-Headers';
const PATH = '/.well-known/oauth-protected-resource/documents/';
const read = (headers: Record<string, string> = {}, method = 'GET') =>
  rs.ask(method, PATH, { headers });

describe('RFC 9110 section 13: metadata has a validator', () => {
  test('a 304 for metadata has no fields about content (section 15.4.5)', async () => {
    const { etag = '' } = (await read()).headers;
    const again = await read({ 'If-None-Match': etag });
    expect([again.status, again.headers.etag, again.text]).toEqual([304, etag, '']);
    expect(again.headers).not.toHaveProperty('content-type');
    expect(again.headers).toHaveProperty('cache-control');
  });

  test.each([
    ['If-None-Match', '"x"', 200],
    ['If-Match', '"x"', 412],
    ['If-Match', 'x', 412],
  ])('metadata at %s with %s is %i', async (name, value, status) => {
    expect((await read({ [name]: value })).status).toBe(status);
  });
});

test('Fetch, section CORS protocol: only the answer to a preflight lists the allowed fields', async () => {
  const allowed = 'access-control-allow-headers';
  const plain = await read({ Origin: 'https://pages.example' });
  expect(plain.headers).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(plain.headers).not.toHaveProperty(allowed);
  const asked = { 'Access-Control-Request-Method': 'GET', [ASK]: 'x-any' };
  const told = await read({ Origin: 'https://pages.example', ...asked }, 'OPTIONS');
  expect(told.headers).toHaveProperty(allowed, 'x-any');
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allow } from '#shared/http/methods.ts';
import { METHODS_OF } from '../resources/place/kinds.ts';
import { spaceAt } from './spaces-under-test.fixture.ts';
import type { Call, Reply } from '#shared/server/wire/ask.fixture.ts';
import { PAGES, startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [
      spaceAt('documents'),
      spaceAt('narrowed', { methods: ['GET', 'QUERY'] }),
      spaceAt('own', { tree: 'own' }),
      spaceAt('keys', {
        tree: 'own',
        schemes: ['Bearer', 'API-Key'],
        apiKey: { field: 'X-Partner' },
      }),
      spaceAt('hidden', { hide: 'forbidden' }),
    ],
  });
  await rs.as('PUT', '/documents/there', { body: 'x' });
});
afterAll(() => rs[Symbol.asyncDispose]());

const preflight = (path: string, headers: object = {}) =>
  rs.ask('OPTIONS', path, {
    headers: { Origin: PAGES, 'Access-Control-Request-Method': 'PUT', ...headers },
  });
const cors = ({ headers }: Reply) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'));
const methodsOf = async (path: string) =>
  (await preflight(path)).headers['access-control-allow-methods'];
const strangers = [`${PAGES}.evil.example`, PAGES.toUpperCase()];

describe('Fetch, section CORS-preflight fetch', () => {
  test('a preflight gets the same answer for existing and missing resources', async () => {
    const [there, missing] = [await preflight('/documents/there'), await preflight('/documents/x')];
    const undated = { date: undefined, 'x-request-id': undefined };
    expect({ ...missing.headers, ...undated }).toEqual({ ...there.headers, ...undated });
  });

  test('a preflight names only the methods that the space lists', async () => {
    expect(await methodsOf('/documents/there')).toBe(allow(METHODS_OF.possible));
    expect(await methodsOf('/narrowed/a')).toBe('GET, HEAD, OPTIONS, QUERY');
  });

  test('a preflight gets the same answer for any requested method, known or not', async () => {
    for (const method of ['QUERY', 'FOO', 'patch', 'TRACE', '']) {
      const reply = await preflight('/narrowed/a', { 'Access-Control-Request-Method': method });
      expect(reply.status).toBe(204);
      expect(reply.headers['access-control-allow-methods']).toBe('GET, HEAD, OPTIONS, QUERY');
    }
  });

  test('a preflight needs no authentication, even with invalid credentials', async () => {
    const reply = await preflight('/documents/there', { Authorization: 'Bearer not.a.token' });
    expect([reply.status, reply.headers['www-authenticate']]).toEqual([204, undefined]);
  });

  test('a preflight from an unlisted origin gets no CORS fields, and no 401', async () => {
    for (const Origin of strangers) {
      const reply = await preflight('/documents/there', { Origin });
      expect([reply.status, cors(reply)]).toEqual([204, []]);
      expect(reply.headers.vary).toContain('Origin');
    }
  });

  test('an OPTIONS request without both fields of a preflight is authenticated in a hidden space', async () => {
    for (const headers of [{ Origin: PAGES }, { 'Access-Control-Request-Method': 'PUT' }]) {
      expect((await rs.ask('OPTIONS', '/hidden/there', { headers })).status).toBe(401);
    }
    const headers = { Origin: PAGES, 'Access-Control-Request-Method': 'PUT' };
    expect((await rs.ask('DELETE', '/documents/there', { headers })).status).toBe(401);
    expect((await rs.ask('GET', '/documents/there', { headers })).status).toBe(401);
  });
});

describe('Fetch, section CORS check: actual answers', () => {
  const Origin = PAGES;
  const EXPOSED =
    'ETag, Location, Content-Location, Allow, Accept-Query, Accept-Patch, Accept-Ranges, Content-Range, Preference-Applied, DAV, Lock-Token, Mcp-Session-Id, WWW-Authenticate, Authentication-Info, DPoP-Nonce, Link, RateLimit, RateLimit-Policy, Retry-After, TTL';

  const answers: [number, string, string, Call][] = [
    [304, 'GET', 'there', { headers: { 'If-None-Match': '*' } }],
    [404, 'GET', 'missing', {}],
    [412, 'PUT', 'there', { headers: { 'If-Match': '"x"' }, body: 'x' }],
    [415, 'QUERY', '', { headers: { 'Content-Type': 'text/x' }, body: 'x' }],
  ];
  test.each(answers)(
    'status %i of %s with %j can be read by a listed origin and by no other',
    async (status, method, path, call) => {
      const from = (origin: string) =>
        rs.as(method, `/documents/${path}`, {
          ...call,
          headers: { ...call.headers, Origin: origin },
        });
      const reply = await from(Origin);
      expect(reply.status).toBe(status);
      expect(reply.headers['access-control-allow-origin']).toBe(Origin);
      expect(reply.headers['access-control-expose-headers']).toBe(EXPOSED);
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
      expect(reply.headers.vary?.split(/, */)).toContain('Origin');
      for (const stranger of strangers) {
        const unread = await from(stranger);
        expect(cors(unread)).toEqual([]);
        expect(unread.headers.vary?.split(/, */)).toContain('Origin');
      }
    },
  );

  test('a listed origin can read a 403, too', async () => {
    const reader = { Origin, Authorization: `Bearer ${rs.token('documents:read')}` };
    const { status, headers } = await rs.ask('PUT', '/documents/there', { headers: reader });
    expect(status).toBe(403);
    expect(headers).toMatchObject({ 'access-control-allow-origin': Origin, vary: 'Origin' });
    expect(headers['access-control-expose-headers']).toBe(EXPOSED);
  });

  test('RFC 9110 section 12.5.5: Vary of a refusal names the fields that select its format, and Origin', async () => {
    const headers = { Origin, Accept: 'image/png' };
    const reply = await rs.as('GET', '/documents/', { headers });
    expect([reply.status, reply.headers.vary]).toEqual([406, 'Accept, Origin']);
  });

  test('if each account has its own tree, Vary also names the fields of credentials', async () => {
    const own = { Authorization: `Bearer ${rs.token('own:read')}`, Origin };
    const [listing, missing] = [
      await rs.ask('GET', '/own/', { headers: own }),
      await rs.ask('GET', '/own/missing', { headers: own }),
    ];
    expect([listing.status, listing.headers.vary]).toEqual([200, 'Accept, Authorization, Origin']);
    expect([missing.status, missing.headers.vary]).toEqual([404, 'Authorization, Origin']);
    expect(listing.headers['cache-control']).toContain('private');
    const keys = { Authorization: `Bearer ${rs.token('keys:read')}` };
    const keyed = await rs.ask('GET', '/keys/', { headers: keys });
    expect(keyed.headers.vary).toBe('Accept, Authorization, X-Partner, Origin');
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '#shared/people/api-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { spaceAt, clientOf } from './spaces-under-test.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { PAGES, startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [
      spaceAt('documents'),
      spaceAt('identity', { serves: 'identity' }),
      spaceAt('traced', {
        schemes: ['Bearer', 'API-Key'],
        apiKey: { field: 'X-Partner', query: 'partner' },
        trace: { hide: ['X-Papertrail'] },
      }),
      spaceAt('beside', { apiKey: { field: 'X-Quota', beside: true }, trace: {} }),
    ],
  });
  as = clientOf(rs);
  await as('PUT', '/documents/text', { body: 'text' });
});
afterAll(() => rs[Symbol.asyncDispose]());

const allowed = ({ headers }: Reply) => headers.allow?.split(', ') ?? [];

describe('RFC 9110 section 9.3.8: TRACE', () => {
  test('TRACE is off by default: 405, and Allow does not name it', async () => {
    for (const path of ['/documents/', '/documents/text', '/identity/']) {
      const reply = await as('TRACE', path);
      expect([path, reply.status]).toEqual([path, 405]);
      expect(allowed(reply)).not.toContain('TRACE');
      expect(reply.text).not.toContain('Bearer');
      expect(allowed(await as('OPTIONS', path))).not.toContain('TRACE');
    }
    expect((await rs.ask('TRACE', '/documents/text')).status).toBe(401);
  });

  test('TRACE, if enabled, echoes the request without credentials, keys and configured fields', async () => {
    const reply = await as('TRACE', '/traced/any?token=secret', {
      headers: { 'X-Papertrail': 'secret', Via: '1.1 a', 'Max-Forwards': '7' },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'message/http',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(reply.text).toMatch(/^TRACE \/traced\/any\?\*\*\* HTTP\/1.1\r\n/);
    expect(reply.text).toContain('Via: 1.1 a\r\n');
    expect(reply.text).not.toMatch(/secret|Bearer|ey[A-Za-z0-9]/);
    expect(allowed(await as('OPTIONS', '/traced/'))).toContain('TRACE');
  });

  interface Sent {
    readonly headers?: Record<string, string>;
    readonly query?: string;
  }
  test.each<[string, string, (key: string) => Sent]>([
    ['in its field', 'traced', (key: string) => ({ headers: { 'X-Partner': key, 'X-A': '1' } })],
    ['in the query', 'traced', (key: string) => ({ query: `?partner=${key}` })],
    ['beside a token', 'beside', (key: string) => ({ headers: { 'X-Quota': key, 'X-A': '1' } })],
  ])('TRACE does not echo an API key %s', async (_, realm, sent) => {
    const { id, key, secret_hash } = newApiKey(systemRandom);
    const scopes = ['traced:read'];
    const created_at = rs.clock.now();
    await rs.stores.apiKeys.add({
      id,
      secret_hash,
      application: 'a',
      realm,
      scopes,
      created_at,
    });
    const { headers = {}, query = '' } = sent(key);
    const ask = realm === 'beside' ? as : rs.ask;
    const reply = await ask('TRACE', `/${realm}/any${query}`, { headers });
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(query === '' ? 'X-A: 1\r\n' : '?***');
    expect(reply.text).not.toContain(key);
  });

  test('TRACE needs the same credentials as the other methods of the space', async () => {
    const reply = await rs.ask('TRACE', '/traced/any', { headers: { 'X-A': 'mine' } });
    expect(reply.status).toBe(401);
    expect(reply.text).not.toContain('mine');
  });

  test('TRACE is never available to pages: it has no CORS fields, and no preflight names it', async () => {
    const reply = await as('TRACE', '/traced/any', { headers: { Origin: PAGES } });
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-'))).toEqual([]);
    const preflight = await rs.ask('OPTIONS', '/traced/any', {
      headers: { Origin: PAGES, 'Access-Control-Request-Method': 'TRACE' },
    });
    expect(preflight.headers['access-control-allow-methods']).not.toContain('TRACE');
  });

  test('TRACE with content or an invalid Max-Forwards is 400', async () => {
    const headers = { 'Content-Length': 1 };
    expect((await as('TRACE', '/traced/any', { headers, body: 'x' })).status).toBe(400);
    const malformed = { 'Max-Forwards': 'all' };
    expect((await as('TRACE', '/traced/any', { headers: malformed })).status).toBe(400);
    expect((await as('TRACE', '/documents/text', { headers: malformed })).status).toBe(400);
  });
});

describe('the method is read only from the request line', () => {
  const OVERRIDES = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'X-Method'];

  test.each(OVERRIDES)('a method override by %s is ignored', async (name) => {
    await as('PUT', '/documents/kept', { body: 'kept' });
    const headers = { [name]: 'DELETE' };
    expect((await as('GET', '/documents/kept', { headers })).text).toBe('kept');
    const post = await as('POST', '/documents/kept', { headers, body: 'x' });
    expect(post.status).toBe(405);
    expect((await as('GET', '/documents/kept')).text).toBe('kept');
  });

  test('a client with the read scope cannot write by a field that names another method', async () => {
    const Authorization = `Bearer ${rs.token('documents:read')}`;
    for (const name of OVERRIDES) {
      const headers = { Authorization, [name]: 'PUT' };
      const reply = await rs.ask('GET', '/documents/new', { headers });
      expect(reply.status).toBe(404);
    }
    expect((await as('GET', '/documents/new')).status).toBe(404);
  });

  test('_method in the query or in a form is ignored', async () => {
    await as('PUT', '/documents/kept', { body: 'kept' });
    expect((await as('GET', '/documents/kept?_method=DELETE')).text).toBe('kept');
    const form = {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: '_method=DELETE',
    };
    expect((await as('POST', '/documents/kept?_method=DELETE', form)).status).toBe(405);
    expect((await as('POST', '/documents/?_method=DELETE', form)).status).toBe(201);
    expect((await as('GET', '/documents/kept')).text).toBe('kept');
  });
});

import { METHODS as PARSED } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allow, SERVED } from '#shared/http/methods.ts';
import { exchange } from '#shared/server/wire/test-socket.fixture.ts';
import { METHODS_OF } from '../resources/place/kinds.ts';
import { spaceAt, clientOf } from './spaces-under-test.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { PAGES, startResourceServer, type TestResourceServer } from './resource-server.fixture.ts';

let rs: TestResourceServer;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  rs = await startResourceServer({
    spaces: [
      spaceAt('documents'),
      spaceAt('narrowed', { methods: ['GET', 'PUT'] }),
      spaceAt('hidden', { hide: 'forbidden' }),
      spaceAt('identity', { serves: 'identity' }),
      spaceAt('traced', { trace: {} }),
    ],
  });
  as = clientOf(rs);
  await as('MKCOL', '/documents/folder/');
  await as('PUT', '/documents/text', { headers: { 'Content-Type': 'text/plain' }, body: 'text' });
  const headers = { 'Content-Type': 'application/json' };
  await as('PUT', '/documents/data', { headers, body: '{"a":1}' });
  await as('PUT', '/narrowed/text', { body: 'text' });
});
afterAll(() => rs[Symbol.asyncDispose]());

const allowed = ({ headers }: Reply) => headers.allow?.split(', ') ?? [];

const PLACES = [
  ['root', '/documents/'],
  ['collection', '/documents/folder/'],
  ['collection', '/documents/folder'],
  ['document', '/documents/text'],
  ['json', '/documents/data'],
] as const;
const MISSING = [
  ['missing', '/documents/missing'],
  ['missingCollection', '/documents/missing/'],
  ['missingCollection', '/documents/text/'],
] as const;

describe('RFC 9110 section 15.5.6: 405 has Allow', () => {
  test.each(PLACES)(
    'a %s at %s answers a method that it does not accept with 405',
    async (kind, path) => {
      const accepted = new Set<string>([...METHODS_OF[kind], 'OPTIONS']);
      for (const method of SERVED) {
        if (accepted.has(method)) continue;
        const reply = await as(method, path);
        expect([method, reply.status]).toEqual([method, 405]);
        expect(reply.headers.allow).toBe(allow(METHODS_OF[kind]));
        expect(reply.headers['content-type']).toBe('application/problem+json');
      }
    },
  );

  test.each([...PLACES, ...MISSING])(
    'OPTIONS of a %s at %s names the methods that it accepts',
    async (kind, path) => {
      const reply = await as('OPTIONS', path);
      expect(reply).toMatchObject({ status: 204, text: '' });
      expect(reply.headers.allow).toBe(allow(METHODS_OF[kind]));
      expect(reply.headers['content-length']).toBeUndefined();
    },
  );

  test.each(MISSING)(
    'a %s at %s answers a method that creates nothing with 404',
    async (kind, path) => {
      const creating = new Set<string>([...METHODS_OF[kind], 'OPTIONS']);
      for (const method of SERVED) {
        if (creating.has(method)) continue;
        expect([method, (await as(method, path)).status]).toEqual([method, 404]);
      }
    },
  );

  test('the accepted methods follow from the current resource', async () => {
    const options = async () => allowed(await as('OPTIONS', '/documents/changing'));
    expect(await options()).toContain('MKCOL');
    await as('PUT', '/documents/changing', { body: 'text' });
    expect(await options()).toEqual(expect.arrayContaining(['GET', 'DELETE']));
    expect(await options()).not.toContain('QUERY');
    await as('PUT', '/documents/changing', {
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(await options()).toEqual(expect.arrayContaining(['QUERY', 'PATCH']));
    await as('DELETE', '/documents/changing');
    expect(await options()).toEqual(['OPTIONS', 'PUT', 'PATCH', 'MKCOL', 'LOCK']);
    expect((await as('GET', '/documents/changing')).status).toBe(404);
  });

  test('a space of one resource has GET, HEAD and POST, and nothing below it', async () => {
    const reply = await as('PUT', '/identity/', { body: 'x' });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
    expect((await as('OPTIONS', '/identity/below')).status).toBe(404);
    expect((await as('PUT', '/identity/below')).status).toBe(404);
  });

  test('a space that lists its methods has no other methods for any client', async () => {
    for (const [path, methods] of [
      ['/narrowed/text', 'GET, HEAD, OPTIONS, PUT'],
      ['/narrowed/', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const left = methods.split(', ');
      for (const method of SERVED) {
        if (left.includes(method)) continue;
        const reply = await as(method, path);
        expect([method, reply.status, reply.headers.allow]).toEqual([method, 405, methods]);
      }
      expect((await as('OPTIONS', path)).headers).toMatchObject({ allow: methods });
      expect((await as('OPTIONS', path)).headers['dav']).toBeUndefined();
    }
    expect((await as('GET', '/narrowed/text')).text).toBe('text');
    expect((await as('OPTIONS', '/narrowed/missing')).headers.allow).toBe('OPTIONS, PUT');
  });
});

describe('RFC 9110 section 15.6.2: an unknown method is 501 on any path', () => {
  const PATHS = [
    '/',
    '*',
    '/nowhere',
    '/verify',
    '/health/live',
    '/.well-known/oauth-protected-resource/documents/',
    '/documents/',
    '/documents/text',
    '/documents/missing',
    '/narrowed/text',
    '/hidden/',
    '/identity/',
  ];
  /** CONNECT is excluded, since its target has another form. */
  const foreign = PARSED.filter((method) => !SERVED.has(method) && method !== 'CONNECT');

  test.each(PATHS)('the method %s, which the HTTP parser knows, is 501', async (path) => {
    for (const method of foreign) {
      const reply = await rs.ask(method, path);
      expect([method, reply.status]).toEqual([method, 501]);
      expect(reply.headers['content-type']).toBe('application/problem+json');
      expect(reply.headers.allow).toBeUndefined();
    }
  });

  test.each(PATHS)('the method %s, which the HTTP parser does not know, is 501', async (path) => {
    for (const method of ['FOO', 'BAN', 'get', 'Put', 'TRACK', 'X-HTTP', 'constructor']) {
      const text = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
      expect(await exchange(rs.listening, text)).toMatch(/^HTTP\/1.1 501 /);
    }
  });

  test.each(['BAN', 'get', 'PURGE'])(
    'a 501 for the method %s has the usual fields, and a line in the log',
    async (method) => {
      const before = rs.lines.length;
      const fields = `Host: localhost\r\nOrigin: ${PAGES}\r\nConnection: close`;
      const text = `${method} /documents/text?secret HTTP/1.1\r\n${fields}\r\n\r\n`;
      const answer = await exchange(rs.listening, text);
      expect(answer).toMatch(/^HTTP\/1.1 501 /);
      expect(answer).toMatch(/^content-security-policy: default-src 'none'/im);
      expect(answer).toContain(`No resource of this server knows the method ${method}.`);
      expect(answer.toLowerCase()).toContain(`access-control-allow-origin: ${PAGES}`);
      const id = /^x-request-id: (.+)\r$/im.exec(answer)?.[1];
      while (rs.lines.length === before) await turn();
      const lines = rs.lines.slice(before).map((line) => JSON.parse(line) as unknown);
      expect(lines).toMatchObject([{ id, method, path: '/documents/text', status: 501 }]);
    },
  );

  test('an unknown method is 501 with and without credentials', async () => {
    for (const method of ['PURGE', 'REPORT', 'SEARCH', 'ACL', 'M-SEARCH']) {
      expect((await as(method, '/documents/text')).status).toBe(501);
      const headers = { Authorization: 'Bearer not.a.token' };
      expect((await rs.ask(method, '/documents/text', { headers })).status).toBe(501);
    }
  });

  test('a page of a listed origin can read a 501', async () => {
    const reply = await rs.ask('PURGE', '/documents/text', { headers: { Origin: PAGES } });
    expect(reply.headers).toMatchObject({ 'access-control-allow-origin': PAGES, vary: 'Origin' });
    const outside = await rs.ask('PURGE', '/nowhere', { headers: { Origin: PAGES } });
    expect(outside.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('RFC 9110 section 9.3.7: OPTIONS', () => {
  test('OPTIONS * does not name TRACE if no space supports TRACE', async () => {
    await using untraced = await startResourceServer({ spaces: [spaceAt('documents')] });
    const methods = allowed(await untraced.ask('OPTIONS', '*'));
    expect(methods).toEqual(allow(SERVED).replace(', TRACE', '').split(', '));
  });

  test.each(['/documents/', '/documents/text', '/documents/missing', '/documents/missing/'])(
    'RFC 4918 section 10.1: OPTIONS names the WebDAV classes at %s without credentials, and reveals no resource',
    async (path) => {
      const reply = await rs.ask('OPTIONS', path);
      expect(reply).toMatchObject({ status: 204, text: '' });
      expect(reply.headers).toMatchObject({ dav: '1, 2, 3', 'ms-author-via': 'DAV' });
      const possible = path.endsWith('/') ? METHODS_OF.possibleCollection : METHODS_OF.possible;
      const ofAny = path === '/documents/' ? METHODS_OF.root : possible;
      expect(reply.headers.allow).toBe(allow(ofAny));
    },
  );

  test('OPTIONS with credentials describes the current resource', async () => {
    const root = await as('OPTIONS', '/documents/');
    expect(root.headers).toMatchObject({ dav: '1, 2, 3', 'ms-author-via': 'DAV' });
    expect(allowed(root)).not.toContain('DELETE');
    const data = await as('OPTIONS', '/documents/data');
    expect(data.headers['accept-query']).toBeDefined();
    expect(data.headers['accept-patch']).toContain('application/json-patch+json');
    expect(data.headers['accept-ranges']).toBe('bytes');
    const text = await as('OPTIONS', '/documents/text');
    expect(text.headers['accept-query']).toBeUndefined();
    expect(text.headers['accept-patch']).toBeUndefined();
  });

  test('OPTIONS with invalid or insufficient credentials is refused', async () => {
    const headers = { Authorization: 'Bearer not.a.token' };
    expect((await rs.ask('OPTIONS', '/documents/text', { headers })).status).toBe(401);
    const malformed = { Authorization: 'Bearer a b' };
    expect((await rs.ask('OPTIONS', '/documents/', { headers: malformed })).status).toBe(401);
    const writer = { Authorization: `Bearer ${rs.token('documents:write')}` };
    expect((await rs.ask('OPTIONS', '/documents/', { headers: writer })).status).toBe(403);
  });

  test('OPTIONS needs credentials in a space that is hidden or has no WebDAV', async () => {
    for (const path of ['/hidden/', '/hidden/text', '/identity/', '/narrowed/text']) {
      const reply = await rs.ask('OPTIONS', path);
      expect([path, reply.status]).toEqual([path, 401]);
      expect(reply.headers.allow).toBeUndefined();
      expect(reply.headers['dav']).toBeUndefined();
    }
  });

  test.each(['/', '*', '/verify', '/documents/', '/documents/text', '/identity/'])(
    'section 7.6.2: OPTIONS of %s is answered with any Max-Forwards, and refused if it is malformed',
    async (path) => {
      const status = async (value: string) =>
        (await as('OPTIONS', path, { headers: { 'Max-Forwards': value } })).status;
      const ends = path === '/identity/' || path.startsWith('/documents') ? as : rs.ask;
      for (const value of ['0', '1', '70']) {
        const reply = await ends('OPTIONS', path, { headers: { 'Max-Forwards': value } });
        expect(reply.status).toBe(204);
      }
      for (const value of ['-1', 'a', '1.5', '1, 1']) {
        // A proxy that asks /verify understands only the refusals 401 and 403.
        expect(await status(value)).toBe(path === '/verify' ? 403 : 400);
      }
    },
  );
});

import { METHODS as PARSED } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allow, SERVED } from '#shared/http/methods.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { Field, HttpResponse, Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { overHttp2 } from './over-http2.ts';
import { ALICE } from './site.ts';

/** Every method at a real process, over each version: supported, not allowed here, and unknown. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const AUTHORIZATION = `Basic ${Buffer.from(`${ALICE.name}:${ALICE.password}`).toString('base64')}`;
const PAGES = 'https://pages.example';

const parts = new AsyncDisposableStack();
let pair: Pair;
beforeAll(async () => {
  pair = parts.use(
    await startPair({
      settings: ({ resource }) => ({
        limits: { credentials: UNLIMITED, signIn: UNLIMITED },
        spaces: [
          { realm: 'dav', tree: 'own', cors: { origins: [PAGES] } },
          { realm: 'few', methods: ['GET', 'PUT'] },
          { realm: 'traced', trace: { hide: ['X-Papertrail'] } },
        ].map((space) =>
          Object.assign({ url: `${resource}/${space.realm}/`, schemes: ['Basic'] }, space),
        ),
      }),
    }),
  );
  await pair.addPerson(ALICE.name, ALICE.password);
});
afterAll(async () => parts.disposeAsync());

const VERSIONS = ['HTTP/1.1', 'HTTP/2 with prior knowledge', 'HTTP/2 over TLS'] as const;

describe.each(VERSIONS)('%s', (version) => {
  let send: Send;
  let origin: string;
  beforeAll(() => {
    origin = version === 'HTTP/2 over TLS' ? pair.resourceTls : pair.resource;
    const { hostname: host, port } = new URL(origin);
    send =
      version === 'HTTP/1.1'
        ? overHttp({ host, port: Number(port) })
        : parts.use(overHttp2(origin)).send;
  });

  function ask(method: string, path: string, fields: readonly Field[] = [], content = '') {
    const target = `${origin}${path}`;
    return send({ method, target, fields, content: Buffer.from(content) });
  }
  function as(method: string, path: string, fields: readonly Field[] = [], content = '') {
    return ask(method, path, [['Authorization', AUTHORIZATION], ...fields], content);
  }
  const field = ({ fields }: HttpResponse, name: string) => valuesOf(fields, name)[0];

  test('a document passes through all methods, from MKCOL to DELETE', async () => {
    const status = async (...args: Parameters<typeof as>) => (await as(...args)).status;
    const json = [['Content-Type', 'application/json']] as const;
    const to = (name: string) => [['Destination', `${origin}/dav/a/${name}`]] as const;
    expect(await status('MKCOL', '/dav/a/')).toBe(201);
    expect(await status('PUT', '/dav/a/b', json, '{"x":1}')).toBe(201);
    expect(await status('GET', '/dav/a/b')).toBe(200);
    expect(await status('HEAD', '/dav/a/b')).toBe(200);
    const patch = '[{"op":"replace","path":"/x","value":2}]';
    const patched = [['Content-Type', 'application/json-patch+json']] as const;
    expect(await status('PATCH', '/dav/a/b', patched, patch)).toBe(204);
    const asked = [['Content-Type', 'application/jsonpath']] as const;
    const found = await as('QUERY', '/dav/a/b', asked, '$.x');
    expect([found.status, found.content.toString()]).toEqual([200, expect.stringContaining('2')]);
    expect(await status('POST', '/dav/a/', json, '{}')).toBe(201);
    expect(await status('COPY', '/dav/a/b', to('c'))).toBe(201);
    expect(await status('MOVE', '/dav/a/c', to('d'))).toBe(201);
    expect(await status('PROPFIND', '/dav/a/', [['Depth', '1']])).toBe(207);
    expect(await status('OPTIONS', '/dav/a/')).toBe(204);
    expect(await status('DELETE', '/dav/a/')).toBe(204);
    expect(await status('GET', '/dav/a/b')).toBe(404);
  });

  test('RFC 9110 section 15.5.6: a method that the space does not list gets 405 with Allow', async () => {
    for (const method of SERVED) {
      if (['GET', 'HEAD', 'OPTIONS'].includes(method)) continue;
      const reply = await as(method, '/few/');
      expect([method, reply.status]).toEqual([method, 405]);
      expect(field(reply, 'Allow')).toBe('GET, HEAD, OPTIONS');
    }
  });

  test.each(['/', '/nowhere', '/dav/', '/dav/a', '/few/', '/health/live'])(
    'RFC 9110 section 15.6.2: an unsupported method gets 501 at %s, with credentials and without',
    async (path) => {
      const foreign = PARSED.filter((method) => !SERVED.has(method) && method !== 'CONNECT');
      for (const method of [...foreign, 'FOO', 'BAN', 'PRI', 'TRACK', 'X-HTTP']) {
        // Without Content-Length, Node's client would send chunked content, which gets 411 for unknown
        // methods.
        const reply = await ask(method, path, [['Content-Length', '0']]);
        expect([method, reply.status]).toEqual([method, 501]);
        expect(field(reply, 'Content-Type')).toBe('application/problem+json');
      }
      expect((await as('PURGE', path)).status).toBe(501);
    },
  );

  test('a page of a listed origin can read a 501 of the space', async () => {
    const reply = await ask('PURGE', '/dav/a', [['Origin', PAGES]]);
    expect(field(reply, 'Access-Control-Allow-Origin')).toBe(PAGES);
  });

  test('a preflight needs no credentials', async () => {
    const asked: Field[] = [
      ['Origin', PAGES],
      ['Access-Control-Request-Method', 'QUERY'],
    ];
    const reply = await ask('OPTIONS', '/dav/a', asked);
    expect(reply.status).toBe(204);
    expect(field(reply, 'Access-Control-Allow-Methods')).toContain('QUERY');
  });

  test('RFC 4918 section 10.1: OPTIONS without credentials names the WebDAV classes at / and in WebDAV', async () => {
    for (const path of ['/', '/dav/', '/dav/missing']) {
      const reply = await ask('OPTIONS', path);
      expect(reply.status).toBe(204);
      expect(field(reply, 'DAV')).toBe('1, 2, 3');
      expect(field(reply, 'MS-Author-Via')).toBe('DAV');
    }
  });

  test('RFC 9110 section 9.3.8: TRACE works only where the space has it, and shows no secret', async () => {
    expect((await as('TRACE', '/dav/')).status).toBe(405);
    const reply = await as('TRACE', '/traced/?key=secret', [
      ['X-A', '1'],
      ['X-Papertrail', 'secret'],
    ]);
    expect(reply.status).toBe(200);
    expect(field(reply, 'Content-Type')).toBe('message/http');
    const echo = reply.content.toString();
    expect(echo).toMatch(/^X-A: 1\r$/im);
    expect(echo).not.toMatch(/secret|Basic|:method/);
    expect((await as('TRACE', '/traced/', [], 'content')).status).toBe(400);
  });

  test('the process still runs', async () => {
    expect((await ask('GET', '/health/ready')).status).toBe(200);
  });
});

describe('requests byte by byte', () => {
  const line = (text: string) =>
    rawHttp(pair.resource, `${text}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);

  test('RFC 9110 section 9.1: methods are case-sensitive', async () => {
    for (const method of ['get', 'Put', 'propfind', 'oPTIONS']) {
      expect(statusOf(await line(`${method} /dav/ HTTP/1.1`))).toBe(501);
    }
    await using http2 = overHttp2(pair.resource);
    for (const method of ['get', 'Put', 'propfind', 'connect', 'pri']) {
      const target = `${pair.resource}/dav/`;
      const reply = await http2.send({ method, target, fields: [], content: Buffer.alloc(0) });
      expect([method, reply.status]).toEqual([method, 501]);
    }
  });

  test('RFC 9112 section 3.2.4: OPTIONS * lists all methods over both versions', async () => {
    const received = await line('OPTIONS * HTTP/1.1');
    expect(statusOf(received)).toBe(204);
    expect(received).toContain(`\r\nAllow: ${allow(SERVED)}\r\n`);
    await using http2 = overHttp2(pair.resource);
    const { host } = new URL(pair.resource);
    const asterisk = { ':method': 'OPTIONS', ':scheme': 'http', ':authority': host, ':path': '*' };
    const stream = http2.session.request(asterisk);
    const fields = await new Promise<Record<string, unknown>>((resolve, reject) => {
      stream.on('response', resolve).on('error', reject);
    });
    expect(fields).toMatchObject({ ':status': 204, allow: allow(SERVED) });
  });

  test.each([
    ['CONNECT a.example:443', 501],
    ['CONNECT a.example', 400],
    ['CONNECT a.example:0', 400],
    ['CONNECT a.example:65536', 400],
    ['CONNECT a.example:x', 400],
    ['CONNECT /dav/', 400],
    ['PRI *', 501],
  ])('RFC 9110 section 9.3.6: %s at an origin gets %i, and no tunnel', async (start, status) => {
    expect(statusOf(await line(`${start} HTTP/1.1`))).toBe(status);
  });

  test.each(['FOO', 'PRI'])('the 501 for %s has a request id', async (method) => {
    const received = await line(`${method} /dav/ HTTP/1.1`);
    expect(statusOf(received)).toBe(501);
    expect(received).toMatch(/^X-Request-Id: \S+\r$/im);
  });

  test('fields that name another method are ignored', async () => {
    const kept = `${pair.resource}/dav/kept`;
    const headers = { Authorization: AUTHORIZATION };
    await fetch(kept, { method: 'PUT', headers, body: 'kept' });
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const overridden = { ...headers, [name]: 'DELETE' };
      const post = await fetch(kept, {
        method: 'POST',
        headers: overridden,
        body: '_method=DELETE',
      });
      expect(post.status).toBe(405);
      const get = await fetch(`${kept}?_method=DELETE`, { headers: overridden });
      expect(await get.text()).toBe('kept');
    }
  });
});

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, fetch, interceptors, request } from 'undici';
import type { Dispatcher } from 'undici';
import { startDavSite } from './dav/dav-site.ts';
import type { DavSite } from './dav/dav-site.ts';
import { basic } from './dav/sender.ts';
import { ALICE } from './site.ts';

/**
 * undici, the library behind Node's fetch: its QUERY requests, and its handling of redirects (RFC 10008
 * section 2.5).
 */
const parts = new AsyncDisposableStack();
const CODES = [301, 302, 303, 307, 308] as const;
const GREEN = '$[?@.colour=="green"].name';
const credentials = basic(ALICE.name, ALICE.password);
const asking = { ...credentials, 'content-type': 'application/jsonpath' };
const FRUIT = [
  { name: 'pear', colour: 'green' },
  { name: 'cherry', colour: 'red' },
  { name: 'lime', colour: 'green' },
];

let site: DavSite;
let following: Dispatcher;

beforeAll(async () => {
  const targets = Object.fromEntries(
    CODES.map((code) => [`/moved/${code}`, [code, '/dav/fruit.json'] as const]),
  );
  site = parts.use(await startDavSite(targets));
  const agent = new Agent();
  parts.defer(() => agent.close());
  following = agent.compose(interceptors.redirect({ maxRedirections: 3 }));
  const { statusCode } = await request(`${site.url}fruit.json`, {
    method: 'PUT',
    headers: { ...credentials, 'content-type': 'application/json' },
    body: JSON.stringify(FRUIT),
  });
  expect(statusCode).toBe(201);
});
afterAll(async () => parts.disposeAsync());

describe('request', () => {
  test('RFC 10008 section 2: after QUERY, GET on Location repeats the query, and GET on Content-Location has the result', async () => {
    const url = `${site.url}fruit.json`;
    const asked = await request(url, { method: 'QUERY', headers: asking, body: GREEN });
    expect([asked.statusCode, await asked.body.json()]).toEqual([200, ['pear', 'lime']]);
    for (const name of ['location', 'content-location'] as const) {
      const again = await request(new URL(String(asked.headers[name]), url), {
        headers: credentials,
      });
      expect([again.statusCode, await again.body.json()]).toEqual([200, ['pear', 'lime']]);
    }
  });

  test.each([301, 302, 307, 308])(
    'RFC 10008 section 2.5: after %i, QUERY is repeated with its content',
    async (code) => {
      const passed = await site.recorded(async () => {
        const { statusCode, body } = await request(`${site.origin}/moved/${code}`, {
          method: 'QUERY',
          headers: asking,
          body: GREEN,
          dispatcher: following,
        });
        expect([statusCode, await body.json()]).toEqual([200, ['pear', 'lime']]);
      });
      expect(passed.map(({ method, status }) => [method, status])).toEqual([
        ['QUERY', code],
        ['QUERY', 200],
      ]);
    },
  );

  test('RFC 10008 section 2.5: 303 turns QUERY into GET without content', async () => {
    const passed = await site.recorded(async () => {
      const { statusCode, body } = await request(`${site.origin}/moved/303`, {
        method: 'QUERY',
        headers: asking,
        body: GREEN,
        dispatcher: following,
      });
      expect([statusCode, await body.json()]).toEqual([200, FRUIT]);
    });
    expect(passed.map(({ method, status }) => [method, status])).toEqual([
      ['QUERY', 303],
      ['GET', 200],
    ]);
    expect(passed[1]?.asked['content-type']).toBeUndefined();
  });

  test('RFC 9110 section 15.4.9: 308 for a collection without its slash repeats QUERY', async () => {
    const passed = await site.recorded(async () => {
      const { statusCode } = await request(site.url.slice(0, -1), {
        method: 'QUERY',
        headers: asking,
        body: '$[*].name',
        dispatcher: following,
      });
      expect(statusCode).toBe(200);
    });
    expect(passed.map(({ method, status }) => [method, status])).toEqual([
      ['QUERY', 308],
      ['QUERY', 200],
    ]);
  });

  test('the remaining WebDAV methods and a conditional request work (RFC 9110 section 13.1.2)', async () => {
    const send = (method: string, path: string, fields = {}) =>
      request(`${site.url}${path}`, { method, headers: { ...credentials, ...fields } });
    expect((await send('MKCOL', 'made')).statusCode).toBe(201);
    const there = { destination: '/dav/made/copy.json' };
    expect((await send('COPY', 'fruit.json', there)).statusCode).toBe(201);
    const { statusCode, headers } = await send('HEAD', 'made/copy.json');
    expect(statusCode).toBe(200);
    const fresh = { 'if-none-match': String(headers['etag']) };
    expect((await send('GET', 'made/copy.json', fresh)).statusCode).toBe(304);
    expect((await send('DELETE', 'made')).statusCode).toBe(204);
  });
});

describe('fetch', () => {
  test.each([301, 302, 307, 308])('after %i, QUERY is repeated with its content', async (code) => {
    const response = await fetch(`${site.origin}/moved/${code}`, {
      method: 'QUERY',
      headers: asking,
      body: GREEN,
    });
    expect(response.redirected).toBe(true);
    expect([response.status, await response.json()]).toEqual([200, ['pear', 'lime']]);
  });

  test('303 turns QUERY into GET', async () => {
    const response = await fetch(`${site.origin}/moved/303`, {
      method: 'QUERY',
      headers: asking,
      body: GREEN,
    });
    expect([response.status, await response.json()]).toEqual([200, FRUIT]);
  });

  test('works over TLS with HTTP/2', async () => {
    const ca = await readFile(site.certificate);
    const dispatcher = new Agent({ allowH2: true, connect: { ca } });
    const response = await fetch(`${site.tlsUrl}fruit.json`, {
      method: 'QUERY',
      headers: asking,
      body: GREEN,
      dispatcher,
    });
    expect([response.status, await response.json()]).toEqual([200, ['pear', 'lime']]);
    await dispatcher.close();
  });

  test('RFC 9110 section 11.6.1: a redirect to the other origin drops the credentials and gets 401', async () => {
    const away = await startDavSite({ '/away': [308, `${site.url}fruit.json`] });
    await using _ = away;
    const response = await fetch(`${away.origin}/away`, {
      method: 'QUERY',
      headers: asking,
      body: GREEN,
    });
    expect(response.status).toBe(401);
    await response.arrayBuffer();
  });
});

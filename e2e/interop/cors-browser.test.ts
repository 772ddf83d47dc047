import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, newPerson } from '../parts/browser.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { type Elsewhere, startElsewhere } from './elsewhere-page.ts';
import { ALICE } from './site.ts';

/** Scripts of other origins in Chromium use documents, by methods with and without a preflight. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const AUTHORIZATION = `Basic ${Buffer.from(`${ALICE.name}:${ALICE.password}`).toString('base64')}`;
const JSON_PATCH = 'application/json-patch+json';

const parts = new AsyncDisposableStack();
let browser: Browser;
let friends: Elsewhere;
let strangers: Elsewhere;
let pair: Pair;

/** A page of an origin that the spaces list, and a page of an origin that they do not list. */
let friend: Page;
let stranger: Page;

beforeAll(async () => {
  browser = parts.use(await launchBrowser());
  friends = parts.use(await startElsewhere());
  strangers = parts.use(await startElsewhere());
  const origins = [friends.crossSite, friends.sameSite];
  const spaces: Record<string, object> = {
    open: { cors: { origins } },
    trusting: { cors: { origins, credentials: true } },
    few: { cors: { origins }, methods: ['GET', 'PUT'] },
    closed: {},
  };
  pair = parts.use(
    await startPair({
      settings: ({ resource }) => ({
        limits: { credentials: UNLIMITED, signIn: UNLIMITED },
        spaces: Object.entries(spaces).map(([realm, members]) =>
          Object.assign({ url: `${resource}/${realm}/`, realm, schemes: ['Basic'] }, members),
        ),
      }),
    }),
  );
  await pair.addPerson(ALICE.name, ALICE.password);
  const person = await newPerson(browser);
  [friend, stranger] = [await person.newPage(), await person.newPage()];
  await friend.goto(friends.crossSite);
  await stranger.goto(strangers.crossSite);
});
afterAll(async () => parts.disposeAsync());

interface Asked {
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly credentials?: 'include' | 'omit';
}

/** Returns the answer that a script sees; `blocked`: the browser showed none. */
async function script(page: Page, method: string, path: string, asked: Asked = {}) {
  return page.evaluate(
    async ({ url, init }) => {
      try {
        const response = await fetch(url, init);
        const { status, headers } = response;
        return { status, fields: Object.fromEntries(headers), text: await response.text() };
      } catch {
        return 'blocked';
      }
    },
    { url: `${pair.resource}${path}`, init: { method, ...asked } },
  );
}

/** Sends a request with the script's own credentials. */
const armed = (page: Page, method: string, path: string, { headers, ...asked }: Asked = {}) =>
  script(page, method, path, { ...asked, headers: { Authorization: AUTHORIZATION, ...headers } });

/** Asks without a browser, to see the actual state. */
async function directly(method: string, path: string, { headers, body }: Asked = {}) {
  const response = await fetch(`${pair.resource}${path}`, {
    method,
    headers: { Authorization: AUTHORIZATION, ...headers },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, text: await response.text() };
}

const json = (body: string): Asked => ({ headers: { 'Content-Type': 'application/json' }, body });
const patched = (body: string): Asked => ({ headers: { 'Content-Type': JSON_PATCH }, body });
const TO_TWO = patched('[{"op":"replace","path":"/a","value":2}]');
const EVERY_A: Asked = { headers: { 'Content-Type': 'application/jsonpath' }, body: '$.a' };
const DEPTH: Asked = { headers: { Depth: '0' } };

/** The effect of each method on `{"a":1}`, and the expected answer. */
const METHODS: readonly [method: string, asked: Asked, status: number, text: RegExp][] = [
  ['GET', {}, 200, /^\{"a":1\}$/],
  ['PUT', json('{"a":3}'), 204, /^$/],
  ['PATCH', TO_TWO, 204, /^$/],
  ['QUERY', EVERY_A, 200, /1/],
  ['PROPFIND', DEPTH, 207, /multistatus/],
  ['DELETE', {}, 204, /^$/],
];

async function place(space: string): Promise<string> {
  const path = `/${space}/data`;
  await directly('PUT', path, json('{"a":1}'));
  return path;
}

describe('a page of a listed origin with its own credentials', () => {
  test.each(METHODS)('may send %s', async (method, asked, status, text) => {
    const path = await place('open');
    const seen = await armed(friend, method, path, asked);
    expect(seen).toMatchObject({ status });
    expect(seen).toHaveProperty('text', expect.stringMatching(text));
  });

  test('may send the other WebDAV methods: MKCOL, COPY, MOVE, PROPPATCH, LOCK, UNLOCK', async () => {
    const path = await place('open');
    const to = (name: string): Asked => ({
      headers: { Destination: `${pair.resource}/open/folder/${name}`, Overwrite: 'F' },
    });
    expect(await armed(friend, 'MKCOL', '/open/folder/')).toMatchObject({ status: 201 });
    expect(await armed(friend, 'COPY', path, to('copy'))).toMatchObject({ status: 201 });
    expect(await armed(friend, 'MOVE', path, to('moved'))).toMatchObject({ status: 201 });
    expect(await armed(friend, 'MOVE', '/open/folder/copy', to('moved'))).toMatchObject({
      status: 412,
    });
    const lockinfo =
      '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
    const locked = await armed(friend, 'LOCK', '/open/folder/moved', {
      headers: { Timeout: 'Second-60', Depth: '0', 'Content-Type': 'application/xml' },
      body: lockinfo,
    });
    if (locked === 'blocked') throw new Error('LOCK was blocked');
    const token = locked.fields['lock-token'] ?? '';
    expect(token).toMatch(/^<[^>]+>$/);
    const update =
      '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><a xmlns="b">1</a></D:prop></D:set></D:propertyupdate>';
    const proppatch = await armed(friend, 'PROPPATCH', '/open/folder/moved', {
      headers: { If: `(${token})`, 'Content-Type': 'application/xml' },
      body: update,
    });
    expect(proppatch).toMatchObject({ status: 207 });
    const unlocked = await armed(friend, 'UNLOCK', '/open/folder/moved', {
      headers: { 'Lock-Token': token },
    });
    expect(unlocked).toMatchObject({ status: 204 });
  });

  test('reads fields that need permission: ETag, Allow, Accept-Query, DAV, ranges', async () => {
    const path = await place('open');
    const got = await armed(friend, 'GET', path, { headers: { Range: 'bytes=0-2' } });
    expect(got).toMatchObject({
      status: 206,
      text: '{"a',
      fields: { etag: expect.any(String), 'content-range': 'bytes 0-2/7' },
    });
    expect(await armed(friend, 'OPTIONS', path)).toMatchObject({
      status: 204,
      fields: {
        allow: expect.stringContaining('QUERY'),
        'accept-query': expect.any(String),
        'accept-patch': expect.stringContaining(JSON_PATCH),
        'accept-ranges': 'bytes',
        dav: '1, 2, 3',
      },
    });
    const created = await armed(friend, 'POST', '/trusting/', json('{}'));
    expect(created).toMatchObject({ status: 201, fields: { location: expect.any(String) } });
  });

  test('reads errors: 401, 404, 405, 412, 415', async () => {
    const path = await place('trusting');
    expect(await script(friend, 'GET', path)).toMatchObject({
      status: 401,
      fields: { 'www-authenticate': expect.stringContaining('Basic') },
    });
    expect(await armed(friend, 'GET', '/trusting/missing')).toMatchObject({ status: 404 });
    expect(await armed(friend, 'POST', path, json('{}'))).toMatchObject({
      status: 405,
      fields: { allow: expect.stringContaining('PUT') },
    });
    const other = { headers: { 'If-Match': '"another"' }, body: 'x' };
    expect(await armed(friend, 'PUT', path, other)).toMatchObject({ status: 412 });
    const unknown = { headers: { 'Content-Type': 'text/x' }, body: 'x' };
    expect(await armed(friend, 'QUERY', path, unknown)).toMatchObject({
      status: 415,
      fields: { 'accept-query': expect.any(String) },
    });
    expect((await directly('GET', path)).text).toBe('{"a":1}');
  });
});

describe('the browser blocks', () => {
  test.each(METHODS)('%s by a page of an origin that is not listed', async (method, asked) => {
    for (const [page, space] of [
      [stranger, 'open'],
      [stranger, 'trusting'],
      [friend, 'closed'],
    ] as const) {
      const path = await place(space);
      expect(await armed(page, method, path, asked)).toBe('blocked');
      expect(await directly('GET', path)).toEqual({ status: 200, text: '{"a":1}' });
    }
  });

  test('a method that the space does not have', async () => {
    const path = await place('few');
    expect(await armed(friend, 'GET', path)).toMatchObject({ status: 200 });
    for (const [method, asked] of METHODS) {
      if (method === 'GET' || method === 'PUT') continue;
      expect([method, await armed(friend, method, path, asked)]).toEqual([method, 'blocked']);
    }
    expect(await directly('GET', path)).toEqual({ status: 200, text: '{"a":1}' });
  });

  test('a method that the server does not know', async () => {
    const path = await place('open');
    for (const method of ['PURGE', 'REPORT', 'FOO']) {
      expect(await armed(friend, method, path)).toBe('blocked');
    }
  });

  test('Fetch, section methods: `patch`, `query` and `propfind` in lower case are other methods', async () => {
    const path = await place('open');
    for (const [method, asked] of METHODS) {
      if (method === 'GET' || method === 'PUT' || method === 'DELETE') continue;
      const lower = method.toLowerCase();
      expect([lower, await armed(friend, lower, path, asked)]).toEqual([lower, 'blocked']);
    }
    expect(await armed(friend, 'get', path)).toMatchObject({ status: 200 });
    expect((await directly('GET', path)).text).toBe('{"a":1}');
  });

  test('a field that names another method is allowed and ignored', async () => {
    const path = await place('open');
    const headers = { 'X-HTTP-Method-Override': 'DELETE' };
    expect(await armed(friend, 'GET', path, { headers })).not.toBe('blocked');
    expect((await directly('GET', path)).status).toBe(200);
  });

  test('TRACE, which no script may send', async () => {
    expect(await armed(friend, 'TRACE', await place('open'))).toBe('blocked');
  });
});

describe('a password that the browser remembers for a site', () => {
  beforeAll(async () => {
    const userinfo = `${ALICE.name}:${encodeURIComponent(ALICE.password)}@`;
    for (const space of ['open', 'trusting']) {
      const url = `${pair.resource}${await place(space)}`.replace('://', `://${userinfo}`);
      expect((await friend.goto(url))?.status()).toBe(200);
    }
    await friend.goto(friends.sameSite);
    await stranger.goto(strangers.sameSite);
  });
  const credentials = 'include';

  test.each(METHODS)(
    'is sent with %s, if the space allows credentials',
    async (method, asked, status, text) => {
      const path = await place('trusting');
      const seen = await script(friend, method, path, { ...asked, credentials });
      expect(seen).toMatchObject({ status });
      expect(seen).toHaveProperty('text', expect.stringMatching(text));
    },
  );

  test.each(METHODS)(
    'is not sent with %s, if the space does not allow credentials',
    async (method, asked) => {
      const path = await place('open');
      expect(await script(friend, method, path, { ...asked, credentials })).toBe('blocked');
      expect((await directly('GET', path)).text).toBe('{"a":1}');
    },
  );

  test.each(METHODS)('is not sent with %s by a page of another origin', async (method, asked) => {
    const path = await place('trusting');
    expect(await script(stranger, method, path, { ...asked, credentials })).toBe('blocked');
    expect((await directly('GET', path)).text).toBe('{"a":1}');
  });

  test('does not help POST without a preflight, which the server refuses if the space does not allow credentials', async () => {
    const form = { headers: { 'Content-Type': 'text/plain' }, body: 'x', credentials } as const;
    for (const [page, space, created] of [
      [friend, 'open', 0],
      [stranger, 'open', 0],
      [stranger, 'trusting', 0],
      [friend, 'trusting', 1],
    ] as const) {
      const members = async () => {
        const listing = JSON.parse((await directly('GET', `/${space}/`)).text) as object;
        return Object.values(listing).flat().length;
      };
      const before = await members();
      const seen = await script(page, 'POST', `/${space}/`, form);
      expect(seen === 'blocked').toBe(created === 0);
      expect((await members()) - before).toBe(created);
    }
  });

  test('is not sent by a script that omits it: the script can read the 401', async () => {
    const path = await place('trusting');
    const omitted = { credentials: 'omit' } as const;
    expect(await script(friend, 'GET', path, omitted)).toMatchObject({ status: 401 });
  });
});

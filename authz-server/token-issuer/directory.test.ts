/** @slow */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DIRECTORY_PATH, parseDirectory } from '#shared/private-token/issuer-directory.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import {
  REQUEST,
  startTokenIssuer,
  TIMES,
  TOKEN_ISSUER,
  TYPES,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

let tokenIssuer: TestTokenIssuer;
beforeEach(async () => {
  tokenIssuer = await startTokenIssuer({}, { processes: 2 });
});
afterEach(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const read = (at = 0, fields: readonly string[] = []) =>
  tokenIssuer.ask({ path: DIRECTORY_PATH, at, fields });

const times = async () =>
  (await tokenIssuer.directoryKeys()).map(({ type, notBefore = 0 }) => [type, notBefore]);

test('RFC 9578 section 4: the directory has media type, request URL and a key of each type with its begin', async () => {
  const { status, headers, body } = await read();
  expect([status, headers['content-type']]).toEqual([
    200,
    'application/private-token-issuer-directory',
  ]);
  const { requestUrl, keys } = parseDirectory(
    JSON.parse(body.toString()),
    TOKEN_ISSUER + DIRECTORY_PATH,
  );
  expect(requestUrl).toBe(REQUEST);
  expect(keys.map(({ type, notBefore }) => [type, notBefore])).toEqual([
    [VOPRF, tokenIssuer.now()],
    [BLIND_RSA, tokenIssuer.now()],
  ]);
});

test('the directory contains no part of a private key', async () => {
  const { body } = await read();
  const [first] = JSON.parse(body.toString())['token-keys'];
  expect(Object.keys(first)).toEqual(['token-type', 'token-key', 'not-before', 'not-after']);
  for (const { sealed = '' } of await tokenIssuer.stores.tokenKeys.list()) {
    expect(body.toString()).not.toContain(sealed);
  }
});

test('the newest keys come first, and each key is listed before it issues tokens', async () => {
  const start = tokenIssuer.now();
  tokenIssuer.clock.advance(TIMES.rotation - TIMES.maxAge);
  await tokenIssuer.chores();
  expect(await times()).toEqual([
    [VOPRF, start + TIMES.rotation],
    [BLIND_RSA, start + TIMES.rotation],
    [VOPRF, start],
    [BLIND_RSA, start],
  ]);
});

test('RFC 9576 section 6.2: the directory has the same octets for all clients, from all processes, at any time', async () => {
  for (let step = 0; step < 25; step += 1) {
    const asked = [
      read(0),
      read(1),
      read(0, ['Authorization', `Bearer ${tokenIssuer.accessToken()}`, 'User-Agent', 'x']),
      read(1, ['Cookie', 'a=b', 'Accept-Language', 'de', 'Origin', 'https://app.example']),
      tokenIssuer.ask({ path: `${DIRECTORY_PATH}?who=me` }),
    ];
    const [first, ...others] = await Promise.all(asked);
    const told = ({ headers, body, status }: NonNullable<typeof first>) => ({
      status,
      body: body.toString(),
      headers: { ...headers, date: '' },
    });
    for (const other of others) expect(told(other)).toEqual(first && told(first));
    tokenIssuer.clock.advance(97);
    await tokenIssuer.chores();
  }
});

describe('RFC 9111 section 5.2: how long the directory may be cached', () => {
  const maxAge = async () => {
    const { headers } = await read();
    return Number(/^public, max-age=(\d+)$/.exec(headers['cache-control'] ?? '')?.[1]);
  };

  test('the directory may be cached for maxAge', async () => {
    expect(await maxAge()).toBe(TIMES.maxAge);
  });

  test('the directory may never be cached longer than its keys are valid', async () => {
    tokenIssuer.clock.advance(TIMES.rotation + TIMES.overlap - 30);
    await tokenIssuer.chores();
    expect(await maxAge()).toBe(30);
    tokenIssuer.clock.advance(29.5);
    expect(await maxAge()).toBe(0);
    tokenIssuer.clock.advance(0.5);
    expect(await maxAge()).toBe(TIMES.maxAge);
  });
});

describe('RFC 9110 section 13: conditional requests', () => {
  test('a request with If-None-Match gets 304 without content until the directory changes', async () => {
    const { headers } = await read();
    const { etag = '' } = headers;
    const again = await read(1, ['If-None-Match', etag]);
    expect([again.status, again.headers.etag, again.body.length]).toEqual([304, etag, 0]);
    expect(again.headers).not.toHaveProperty('content-type'); // section 15.4.5
    tokenIssuer.clock.advance(TIMES.rotation - TIMES.maxAge);
    await tokenIssuer.chores();
    const changed = await read(1, ['If-None-Match', etag]);
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
  });

  test.each([
    ['If-Match', '"x"', 412],
    ['If-None-Match', '*', 304],
    ['If-None-Match', '"x"', 200],
    ['If-None-Match', 'x', 200],
  ])('a request with %s: %s gets %i', async (name, value, status) => {
    expect((await read(0, [name, value])).status).toBe(status);
  });
});

describe('RFC 9578 section 4: the directory is complete or absent', () => {
  /** From then on only keys that a process has made meanwhile are valid. */
  test.each(TYPES)(
    'if there is only a key of type %i, the directory is 503, which no cache stores',
    async (type) => {
      const { tokenKeys } = tokenIssuer.stores;
      for (const row of await tokenKeys.list()) {
        if (row.type !== type) await tokenKeys.retire(row.type, row.id);
      }
      for (const at of [0, 1]) {
        const { status, headers, body } = await read(at);
        expect([status, headers['retry-after'], headers['cache-control']]).toEqual([
          503,
          '1',
          'no-store',
        ]);
        expect(body.toString()).not.toContain('token-keys');
      }
      await tokenIssuer.chores();
      const [first, second] = await Promise.all([read(0), read(1)]);
      expect([first?.status, first?.body]).toEqual([200, second?.body]);
      expect(new Set((await tokenIssuer.directoryKeys()).map((key) => key.type))).toEqual(
        new Set(TYPES),
      );
    },
  );
});

test('if the store does not answer, the directory is 503', async () => {
  await tokenIssuer.stores[Symbol.asyncDispose]();
  expect((await read()).status).toBe(503);
});

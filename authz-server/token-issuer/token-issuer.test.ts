import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import {
  AS,
  REQUEST,
  startTokenIssuer,
  TIMES,
  VERIFY,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

let tokenIssuer: TestTokenIssuer;
beforeAll(async () => {
  tokenIssuer = await startTokenIssuer();
});
afterAll(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const METADATA = '/.well-known/oauth-protected-resource/private-token';
const READ = [DIRECTORY_PATH, `${METADATA}/request`, `${METADATA}/verify`];
const POSTED = ['/private-token/request', '/private-token/verify'];
const PREFLIGHT = Object.entries({
  Origin: 'https://app.example',
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization, x-anything',
}).flat();

describe('RFC 9110 section 15.5.6: methods', () => {
  test.each(READ)('%s: GET, HEAD and OPTIONS', async (path) => {
    const got = await tokenIssuer.ask({ path });
    const head = await tokenIssuer.ask({ path, method: 'HEAD' });
    expect([got.status, head.status, head.body.length]).toEqual([200, 200, 0]);
    expect(head.headers['content-length']).toBe(String(got.body.length));
    const { etag = '' } = got.headers;
    const again = await tokenIssuer.ask({ path, fields: ['If-None-Match', etag] });
    expect([again.status, again.headers.etag, again.body.length]).toEqual([304, etag, 0]);
    const options = await tokenIssuer.ask({ path, method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const { status, headers } = await tokenIssuer.ask({ path, method: 'POST' });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test.each(POSTED)('%s: POST and OPTIONS', async (path) => {
    const options = await tokenIssuer.ask({ path, method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).toEqual([204, 'OPTIONS, POST']);
    for (const method of ['GET', 'HEAD']) {
      const fields = ['Authorization', `Bearer ${tokenIssuer.accessToken()}`];
      const { status, headers } = await tokenIssuer.ask({ path, method, fields });
      expect([status, headers.allow]).toEqual([405, 'OPTIONS, POST']);
    }
  });
});

test('section 9.1: what is handled nowhere here is 501 on every path', async () => {
  for (const method of ['PUT', 'DELETE', 'QUERY', 'TRACE', 'PURGE']) {
    for (const path of [...READ, ...POSTED, '/nowhere']) {
      const { status, headers } = await tokenIssuer.ask({ path, method });
      expect([status, headers.allow]).toEqual([501, undefined]);
    }
  }
});

test.each([
  '/',
  '/private-token',
  '/private-token/',
  '/private-token/request/x',
  '/.well-known/oauth-protected-resource',
  METADATA,
  '/token',
  '/jwks',
])('%s is no address of the issuer', async (path) => {
  expect((await tokenIssuer.ask({ path, method: 'POST' })).status).toBe(404);
});

describe('RFC 9111 section 5.2.2.5: no cache keeps an error', () => {
  test.each<[number, string, string, readonly string[]]>([
    [400, 'GET', '/a%2fb', []],
    [400, 'GET', DIRECTORY_PATH, ['If-Match', 'x']],
    [401, 'POST', '/private-token/request', []],
    [401, 'POST', '/private-token/verify', []],
    [404, 'GET', '/', []],
    [404, 'HEAD', '/nowhere', []],
    [501, 'PURGE', '/nowhere', []],
    [405, 'POST', DIRECTORY_PATH, []],
    [405, 'POST', `${METADATA}/request`, []],
    [405, 'GET', '/private-token/request', []],
    [405, 'GET', '/private-token/verify', []],
    [412, 'GET', DIRECTORY_PATH, ['If-Match', '"x"']],
    [501, 'PURGE', DIRECTORY_PATH, []],
    [501, 'PURGE', '/private-token/request', []],
  ])('%i: %s %s', async (status, method, path, fields) => {
    const answer = await tokenIssuer.ask({ method, path, fields });
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store']);
  });

  test('what is no error keeps its own', async () => {
    const [directory, metadata] = await Promise.all(READ.map((path) => tokenIssuer.ask({ path })));
    expect(directory?.headers['cache-control']).toBe(`public, max-age=${TIMES.maxAge}`);
    expect(metadata?.headers['cache-control']).toBe('max-age=300');
  });
});

describe('Fetch Standard, CORS', () => {
  test('a script of any origin may ask for tokens', async () => {
    const call = { method: 'OPTIONS', path: '/private-token/request', fields: PREFLIGHT };
    const { status, headers } = await tokenIssuer.ask(call);
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'OPTIONS, POST',
      'access-control-allow-headers': 'authorization, x-anything',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test.each([401, 405, 422])('and reads why it got none: %i', async (status) => {
    const calls: Record<number, () => ReturnType<TestTokenIssuer['ask']>> = {
      401: () => tokenIssuer.request(Buffer.alloc(1), { fields: [] }),
      405: () => tokenIssuer.ask({ path: '/private-token/request' }),
      422: () => tokenIssuer.request(Buffer.alloc(1)),
    };
    const answer = await calls[status]?.();
    expect(answer).toMatchObject({
      status,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'DPoP-Nonce, WWW-Authenticate, Retry-After',
        'cache-control': 'no-store',
      },
    });
  });

  test('anybody reads the directory and the metadata', async () => {
    for (const path of READ) {
      const { headers } = await tokenIssuer.ask({ path });
      expect(headers['access-control-allow-origin']).toBe('*');
    }
  });

  test('nobody is let near the verification', async () => {
    const call = { method: 'OPTIONS', path: '/private-token/verify', fields: PREFLIGHT };
    const { headers } = await tokenIssuer.ask(call);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test.each([
  ['request', REQUEST, 'private-token'],
  ['verify', VERIFY, 'private-token:verify'],
])('RFC 9728 section 2: the metadata of the %s endpoint', async (path, resource, scope) => {
  const { headers, body } = await tokenIssuer.ask({ path: `${METADATA}/${path}` });
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(body.toString())).toEqual({
    resource,
    resource_name: scope,
    authorization_servers: [AS],
    scopes_supported: [scope],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
    dpop_bound_access_tokens_required: false,
  });
});

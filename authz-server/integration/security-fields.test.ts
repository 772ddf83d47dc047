import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { observatoryScore } from '#shared/server/front-door/observatory.fixture.ts';
import { ask } from '#shared/server/wire/ask.fixture.ts';
import { testAuthz, type TestAuthz } from './authz.fixture.ts';

let authz: TestAuthz;
beforeAll(async () => {
  authz = await testAuthz({ issuer: 'https://auth.example', trustedProxies: ['127.0.0.1/32'] });
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

async function headersOf(path: string, { at = authz, method = 'GET', headers = {} } = {}) {
  return (await ask(Number(new URL(at.url).port), method, path, { headers })).headers;
}
const html = { accept: 'text/html' };

test.each<[string, object]>([
  ['/', { headers: html }],
  ['/sign-in', { headers: html }],
  ['/account', { headers: html }],
  ['/auth', { headers: html }],
  ['/nowhere', { headers: html }],
  ['/nowhere', {}],
  ['/.well-known/openid-configuration', {}],
  ['/.well-known/oauth-authorization-server', {}],
  ['/jwks', {}],
  ['/token', { method: 'POST' }],
  ['/token', {}],
  ['/userinfo', {}],
  ['/health/live', {}],
])('MDN HTTP Observatory: the answer of %s to %j gets A+', async (path, sent) => {
  expect(observatoryScore(await headersOf(path, sent))).toBeGreaterThanOrEqual(100);
});

describe('RFC 6797: Strict-Transport-Security', () => {
  const sts = 'strict-transport-security';

  test('section 6.1: the field has one year, for this host only', async () => {
    expect((await headersOf('/'))[sts]).toBe('max-age=31536000');
  });

  test('section 7.2: the field is absent if the proxy says that the client used clear text', async () => {
    const came = (scheme: string) => headersOf('/', { headers: { 'x-forwarded-proto': scheme } });
    expect((await came('http'))[sts]).toBeUndefined();
    expect((await came('HTTP'))[sts]).toBeUndefined();
    expect((await came('https'))[sts]).toBe('max-age=31536000');
  });

  test.each(['http://localhost:3000', 'https://localhost:3000', 'https://127.0.0.1:3000'])(
    'the field is absent for %s',
    async (issuer) => {
      await using local = await testAuthz({ issuer });
      expect((await headersOf('/', { at: local }))[sts]).toBeUndefined();
    },
  );
});

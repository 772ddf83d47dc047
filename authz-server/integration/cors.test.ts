import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic, SECRET } from './authz.fixture.ts';
import { NATIVE, testFlow, WEB } from './code-flow.fixture.ts';
import type { TestFlow } from './code-flow.fixture.ts';
import { fetched } from './fetched.fixture.ts';

const OWN = 'https://app.example';
const LISTED = 'https://spa.example';
const EVIL = 'https://evil.example';

let flow: TestFlow;
beforeAll(async () => {
  flow = await testFlow();
  await flow.stores.clients.add({ ...WEB, client_id: 'spa', origins: [LISTED] });
  await flow.stores.clients.add({
    ...NATIVE,
    client_id: 'native-only',
    redirect_uris: ['com.example.app:/callback'],
  });
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

const preflight = (path: string, origin = EVIL) =>
  fetched(flow.url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'dpop, x-anything',
    },
  });
const allowedOrigin = (headers: Headers) => headers.get('access-control-allow-origin');

describe('CORS (Fetch Standard section 3.2)', () => {
  test.each([
    '/jwks',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ])('every script may read %s', async (path) => {
    const { headers } = await fetched(flow.url + path, { headers: { origin: EVIL } });
    expect(allowedOrigin(headers)).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(['/token', '/request', '/device/auth', '/token/revocation', '/userinfo'])(
    'a preflight to %s is answered for any origin, since only the request itself identifies the client',
    async (path) => {
      const { status, headers } = await preflight(path);
      const credentials = headers.get('access-control-allow-credentials');
      expect([status, allowedOrigin(headers), credentials]).toEqual([204, EVIL, 'true']);
      expect(headers.get('access-control-allow-methods')).toContain('POST');
      expect(headers.get('access-control-allow-headers')).toBe('dpop, x-anything');
    },
  );

  test.each([
    '/',
    '/auth',
    '/account',
    '/sign-in',
    '/device',
    '/session/end',
    '/token/introspection',
  ])('a preflight to %s is answered like any OPTIONS, and allows nothing', async (path) => {
    const { status, headers } = await preflight(path, OWN);
    expect([status, allowedOrigin(headers)]).toEqual([204, null]);
    expect(headers.get('allow')).toContain('OPTIONS');
  });

  test.each([
    ['web', OWN, true],
    ['spa', LISTED, true],
    ['spa', OWN, true],
    ['web', LISTED, false],
    ['web', EVIL, false],
    ['web', 'null', false],
    ['web', 'http://app.example', false],
    ['web', 'https://app.example:8443', false],
    ['native-only', 'null', false],
    ['native-only', 'com.example.app://', false],
  ])('a script as %s from %s may call the endpoint: %p', async (client_id, origin, allowed) => {
    const forms = {
      '/token': { grant_type: 'refresh_token', refresh_token: 'x', client_id },
      '/request': { client_id },
      '/token/revocation': { token: 'x', client_id },
    };
    for (const [path, form] of Object.entries(forms)) {
      const { headers, body } = await flow.post(path, form, { origin });
      expect(allowedOrigin(headers)).toBe(allowed ? origin : null);
      // The Fetch Standard section 3.2.3: keycloak-js sends its requests with credentials.
      const credentials = headers.get('access-control-allow-credentials');
      expect(credentials).toBe(allowed && path !== '/request' ? 'true' : null);
      if (!allowed) expect(body['error']).toBe('invalid_request');
    }
  });

  test('endpoints that scripts may call with credentials read and set no cookie', async () => {
    const browser = await flow.signedIn();
    const cookie = browser.cookies.map(({ line }) => line.split(';', 1)[0]).join('; ');
    const token = await flow.tokens();
    const asked = [
      ['/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'web' }],
      ['/token', { grant_type: 'refresh_token', client_id: 'web' }],
      ['/token/revocation', { token: 'x', client_id: 'web' }],
      ['/userinfo', {}],
      ['/userinfo', { access_token: String(token['access_token']) }],
    ] as const;
    for (const [path, form] of asked) {
      const [bare, cookies] = [
        await flow.post(path, form, { origin: OWN }),
        await flow.post(path, form, { origin: OWN, cookie }),
      ];
      expect([path, cookies.status, cookies.body]).toEqual([path, bare.status, bare.body]);
      expect(cookies.headers.getSetCookie()).toEqual([]);
    }
  });

  test('RFC 9449 section 8: a script may read the nonce that it is asked to use', async () => {
    const fields = { origin: OWN, dpop: 'x' };
    const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'web' };
    const { headers } = await flow.post('/token', form, fields);
    const exposed = headers.get('access-control-expose-headers')?.split(',');
    expect(exposed).toContain('DPoP-Nonce');
  });

  test('no script may call introspection, which is for resource servers', async () => {
    const fields = { ...basic('server', SECRET), origin: OWN };
    const { status, headers } = await flow.post('/token/introspection', { token: 'x' }, fields);
    expect([status, allowedOrigin(headers)]).toEqual([400, null]);
  });
});

test('an origin that is not ASCII is refused, and not echoed', async () => {
  const headers = { origin: '\u00a0' };
  const answer = await fetched(`${flow.url}/token`, { method: 'POST', headers });
  expect([answer.status, allowedOrigin(answer.headers)]).toEqual([400, '*']);
});

test('invalid field names in a preflight are not echoed', async () => {
  const answer = await fetched(`${flow.url}/token`, {
    method: 'OPTIONS',
    headers: {
      origin: EVIL,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'dpop, \u00a0, a b',
    },
  });
  expect(answer.headers.get('access-control-allow-headers')).toBe('dpop');
});

test('a script may read the error of a request whose client is not authenticated', async () => {
  const answer = await fetched(`${flow.url}/token`, { headers: { origin: EVIL } });
  expect([answer.status, allowedOrigin(answer.headers)]).toEqual([405, '*']);
  expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After');
});

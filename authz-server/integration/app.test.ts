import { connect } from 'node:net';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ACRS } from '#shared/jose/acr.ts';
import type { Spent } from '#shared/stores/limits/limits.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { asApp, testAuthz } from './authz.fixture.ts';
import type { TestAuthz } from './authz.fixture.ts';
import { fetched } from './fetched.fixture.ts';

let authz: TestAuthz;
beforeAll(async () => {
  authz = await testAuthz();
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

/** Sends bytes unchanged and resolves to everything that comes back. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(authz.url).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => (answer += data.toString()));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

const CLAIMS =
  'sub sid iss acr amr auth_time name given_name family_name middle_name nickname preferred_username picture locale profile website gender birthdate zoneinfo updated_at email email_verified phone_number phone_number_verified address groups'.split(
    ' ',
  );
const ALGS = ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'];
const METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

describe('metadata (RFC 8414 section 2, OpenID Connect Discovery section 3)', () => {
  test.each(METADATA)('%s names the supported features, and no others', async (path) => {
    const response = await fetched(authz.url + path);
    const metadata = (await response.json()) as Record<string, unknown>;
    const { issuer } = authz.config;
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      pushed_authorization_request_endpoint: `${issuer}/request`,
      device_authorization_endpoint: `${issuer}/device/auth`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      end_session_endpoint: `${issuer}/session/end`,
      jwks_uri: `${issuer}/jwks`,
      introspection_endpoint: `${issuer}/token/introspection`,
      revocation_endpoint: `${issuer}/token/revocation`,
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types_supported: ['code'],
      response_modes_supported: ['form_post', 'fragment', 'query'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: [
        'openid',
        'offline_access',
        'profile',
        'email',
        'phone',
        'address',
        'groups',
        'documents:read',
        'documents:write',
        'rsa',
        'ed',
      ],
      claims_supported: expect.arrayContaining(CLAIMS),
      acr_values_supported: [...ACRS],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      token_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
        'none',
      ],
      revocation_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
        'none',
      ],
      introspection_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
      ],
      // Obligatory if private_key_jwt is among the methods.
      revocation_endpoint_auth_signing_alg_values_supported: ALGS,
      introspection_endpoint_auth_signing_alg_values_supported: ALGS,
      authorization_response_iss_parameter_supported: true,
      request_uri_parameter_supported: false,
      claims_parameter_supported: true,
      ui_locales_supported: ['en', 'de'],
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    });
    expect(metadata['claims_supported']).toHaveLength(CLAIMS.length);
    expect(metadata).not.toHaveProperty('registration_endpoint');
    expect(metadata).not.toHaveProperty('backchannel_authentication_endpoint');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  test.each<[string, Record<string, string>]>([
    ['Host', { host: 'evil.example' }],
    ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
    ['Forwarded', { forwarded: 'host=evil.example;proto=https' }],
  ])('a forged %s does not influence the metadata', async (_name, fields) => {
    const body = await (await fetched(authz.url + METADATA[0], { headers: fields })).text();
    expect(body).not.toContain('evil.example');
    expect(JSON.parse(body)).toMatchObject({ token_endpoint: `${authz.config.issuer}/token` });
  });

  test('the metadata does not depend on the authority of an absolute-form target', async () => {
    const answer = await raw(
      `GET http://evil.example${METADATA[0]} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toContain('evil.example');
  });
});

describe('unsupported methods and paths (RFC 9110 section 15.5.6 and 15.6.2)', () => {
  test.each([
    '/token/',
    '/device/x',
    '/interaction/x/y',
    '/interaction',
    '/interaction/%3Auid',
    '/auth/:uid',
    '/me',
    '/reg',
    '/toString',
  ])('%s is no endpoint', async (path) => {
    expect((await fetched(authz.url + path)).status).toBe(404);
  });

  test.each(['/token', '/', '/jwks', '/nothing', '/health/live', '/auth/x'])(
    'an unsupported method gets 501 at %s, whether or not the parser knows it',
    async (path) => {
      for (const method of ['BREW', 'BAN', 'get', 'PURGE', 'REPORT', 'SEARCH', 'ACL', 'M-SEARCH']) {
        const answer = await raw(
          `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        );
        expect(answer).toMatch(/^HTTP\/1\.1 501 /);
        expect(answer).toMatch(/^content-security-policy: default-src 'none'/im);
      }
    },
  );

  test('a method that only the resource server supports gets 501, and TRACE gets no echo', async () => {
    for (const method of ['TRACE', 'QUERY', 'PROPFIND', 'PATCH', 'LOCK']) {
      const answer = await raw(
        `${method} /token HTTP/1.1\r\nHost: localhost\r\nCookie: secret\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 501 /);
      expect(answer).not.toContain('secret');
    }
  });

  test('fields that name another method are ignored', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const response = await fetched(`${authz.url}/token`, { headers: { [name]: 'POST' } });
      expect(response.status).toBe(405);
    }
  });

  test('the answer to HEAD has the fields of the answer to GET', async () => {
    for (const path of ['/', '/jwks', ...METADATA]) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => fetched(authz.url + path, { method })),
      );
      expect(head?.status).toBe(200);
      expect(await head?.text()).toBe('');
      for (const name of ['content-type', 'content-length', 'cache-control']) {
        expect(head?.headers.get(name)).toBe(get?.headers.get(name));
      }
    }
  });
});

describe('an error is a page for a person and problem details for a program', () => {
  const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
  test.each([
    ['/authorize', '/auth'],
    ['/oauth/token', '/token'],
    ['/realms/main/protocol/openid-connect/token/introspect', '/token/introspection'],
    ['/.well-known/jwks.json', '/jwks'],
  ])('the 404 of %s names our endpoint, %s', async (path, endpoint) => {
    for (const accept of [HTML, '*/*']) {
      const answer = await fetched(authz.url + path, { headers: { accept } });
      expect([answer.status, await answer.text()]).toEqual([
        404,
        expect.stringContaining(
          `There is nothing at this address. Use ${endpoint}: /.well-known/oauth-authorization-server names`,
        ),
      ]);
    }
  });

  test.each([
    ['GET', '/nothing', 404],
    ['POST', '/', 405],
    ['GET', '/%2F', 400],
  ])('%s %s gets %d', async (method, path, status) => {
    const ask = (accept: string) => fetched(authz.url + path, { method, headers: { accept } });
    const [page, problem] = [await ask(HTML), await ask('*/*')];
    expect([page.status, problem.status]).toEqual([status, status]);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('allow')).toBe(problem.headers.get('allow'));
    const text = await page.text();
    expect(text).toContain('href="/account"');
    expect(text).toContain(`<code>${String(page.headers.get('x-request-id'))}</code>`);
    expect(problem.headers.get('content-type')).toBe('application/problem+json');
  });
});

test.each(['/interaction/x', '/auth', '/nothing'])(
  'the error page of %s has the id with which the operator finds the request in the log',
  async (path) => {
    const page = await fetched(authz.url + path, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain(`<code>${String(page.headers.get('x-request-id'))}</code>`);
  },
);

test('a program gets problem details even if its library accepts pages', async () => {
  for (const path of ['/token', '/request', '/userinfo', '/jwks']) {
    const response = await fetched(authz.url + path, {
      method: 'DELETE',
      headers: { accept: 'text/html, */*' },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      501,
      'application/problem+json',
    ]);
  }
});

test('each client address has a limit for costly requests before authentication', async () => {
  await using limited = await testAuthz({ limits: { address: { burst: 7, per: 60 } } });
  const programs = ['/token', '/device/auth', '/request'];
  const pages = ['/auth', '/session/end', '/sign-in', '/interaction/x/login'];
  const paths = [...programs, ...pages];
  for (const path of paths) expect((await limited.post(path, {})).status).not.toBe(429);
  for (const path of paths) {
    const { status, headers } = await limited.post(path, {});
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
  }
  expect((await fetched(`${limited.url}/jwks`)).status).toBe(200);
  const asked = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
  for (const path of programs) {
    const preflight = await fetched(limited.url + path, { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(204); // uses up nothing
    const { headers } = await limited.post(path, {}, { origin: 'https://app.example' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
  }
});

describe('RFC 6749 section 5.2: a refusal before the engine has the format of OAuth errors', () => {
  const late = () => Promise.reject(new StoreUnavailable('late'));
  const broken = () => Promise.reject(new Error('a defect'));
  const spent = () => Promise.resolve({ ok: false, retryAfter: 47 } as const);
  const origin = 'https://app.example';

  test.each([
    ['a store that does not answer', late, 503, 'temporarily_unavailable', '1'],
    ['the limit of the address', spent, 429, 'temporarily_unavailable', '47'],
    ['a defect', broken, 500, 'server_error', null],
  ] as const)(
    'a refusal has this format after %s',
    async (_title, outcome, status, error, retryAfter) => {
      for (const path of ['/token', '/request', '/device/auth']) {
        using spend = jest.spyOn(authz.stores.limits, 'spend');
        spend.mockImplementationOnce(outcome);
        const { headers, body, ...answer } = await authz.post(path, { client_id: 'x' }, { origin });
        expect([path, answer.status, body]).toEqual([
          path,
          status,
          { error, error_description: expect.stringMatching(/^[ !#-[\]-~]+$/) },
        ]);
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(headers.get('retry-after')).toBe(retryAfter);
        expect(headers.get('cache-control')).toBe('no-store');
        expect(headers.get('access-control-allow-origin')).toBe('*');
      }
    },
  );
});

describe('ambiguous or too long requests are refused', () => {
  const post = (fields: string, body = 'grant_type=client_credentials') =>
    raw(
      `POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`,
    );

  test.each([
    ['two Host fields', 'Host: evil.example\r\n', 400],
    ['two Authorization fields', `Authorization: ${asApp.authorization}\r\n`.repeat(2), 400],
    ['a form of another type', 'Content-Type: application/json\r\n', 401],
  ])('a request with %s is refused', async (_what, fields, status) => {
    expect(await post(fields)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test('a form over 56 KiB gets 413 before it is sent', async () => {
    const answer = await raw(
      'POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\nExpect: 100-continue\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).not.toContain('100 Continue');
  });

  test('a client that disconnects before its form is complete causes no output on standard error', async () => {
    using warn = jest.spyOn(console, 'warn').mockReturnValue();
    using spend = jest.spyOn(authz.stores.limits, 'spend');
    const held = Promise.withResolvers<Spent>();
    spend.mockReturnValueOnce(held.promise);
    const socket = connect(Number(new URL(authz.url).port), '127.0.0.1');
    socket.write(
      'POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\na=',
    );
    while (spend.mock.calls.length === 0) await setImmediate();
    socket.destroy();
    await once(socket, 'close');
    await turns(); // The server notices the end of the connection.
    held.resolve({ ok: true, remaining: 1, reset: 1 });
    await turns(); // The engine has begun the request.
    expect(warn).not.toHaveBeenCalled();
  });

  test('a chunked form over 56 KiB gets 413, like a form with a length', async () => {
    const chunk = `${(60_000).toString(16)}\r\n${'a'.repeat(60_000)}\r\n0\r\n\r\n`;
    const answer = await raw(
      `POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

test('the page at / has a strict policy and the configured addresses', async () => {
  const response = await fetched(authz.url);
  // The script copies commands.
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^;]*; script-src 'sha256-[^;]*; require-trusted-types/,
  );
  expect(await response.text()).toContain(`${authz.config.issuer}/token`);
});

test('the page names the client of the first start only in development', async () => {
  await using production = await testAuthz({
    issuer: 'https://auth.example',
    resource: 'https://api.example',
  });
  expect(await (await fetched(authz.url)).text()).toContain('first-start.txt');
  expect(await (await fetched(production.url)).text()).not.toContain('first-start.txt');
});

test('the health endpoints answer requests', async () => {
  for (const path of ['/health/live', '/health/ready']) {
    const response = await fetched(authz.url + path);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  }
});

test.each([...METADATA, '/jwks'])(
  'RFC 9110 section 13: the answer of %s has a validator',
  async (path) => {
    const first = await fetched(authz.url + path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const again = await fetched(authz.url + path, { headers: { 'If-None-Match': etag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, etag]);
    expect(again.headers.get('content-type')).toBeNull(); // section 15.4.5
    const other = await fetched(authz.url + path, { headers: { 'If-None-Match': '"x"' } });
    expect([other.status, await other.text()]).toEqual([200, await first.text()]);
  },
);

test.each([...METADATA, '/jwks'])(
  'RFC 9110 section 13.1.1: If-Match is checked on %s',
  async (path) => {
    const answers: unknown[] = [];
    const unmet = ['"x"', 'x', ''];
    for (const tags of unmet) {
      const response = await fetched(authz.url + path, { headers: { 'If-Match': tags } });
      const { status } = (await response.json()) as { status: number };
      answers.push([response.status, status, response.headers.get('content-type')]);
    }
    const problem = 'application/problem+json';
    expect(answers).toEqual(unmet.map(() => [412, 412, problem]));
  },
);

import http from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { lines } from '#shared/http/fields.ts';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import { RESOURCE } from '../resource-server.fixture.ts';
import { clientOf } from '../spaces-under-test.fixture.ts';
import { type Application, startApplication, startGateway } from '../gateway.fixture.ts';
import { READ_AT_ONCE } from '../../steps/message-reader.ts';

let application: Application;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let as: ReturnType<typeof clientOf>;
beforeAll(async () => {
  application = await startApplication();
  const { url } = application;
  gateway = await startGateway({
    inventory: { upstream: { url: `${url}base/` } },
    plain: { upstream: { url: `${url}plain/` } },
    listed: { upstream: { url }, methods: ['GET', 'REPORT', 'PURGE'] },
    open: { upstream: { url }, schemes: [], scopes: {} },
    passing: { upstream: { url, authorization: 'pass' } },
    keys: {
      upstream: { url, secrets: ['X-Internal'] },
      schemes: ['API-Key', 'Bearer'],
      apiKey: { query: 'key' },
    },
    'keys/inner': { upstream: { url } },
    traced: { upstream: { url }, trace: {} },
    named: { upstream: { url, host: 'upstream', forwarded: 'forwarded' } },
    silent: { upstream: { url, forwarded: 'none' } },
    told: { upstream: { url, name: 'the shop', identity: ['statement', 'fields'] } },
    fields: { upstream: { url, identity: ['fields'] } },
    untold: { upstream: { url, identity: [] } },
    mcp: {
      upstream: { url },
      scopes: {
        safe: ['mcp:read'],
        unsafe: ['mcp:read'],
        'tool:add_note': ['mcp:write'],
        'tool:share_note': ['mcp:share'],
      },
    },
  });
  as = clientOf(gateway);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

type Asked = Application['asked'][number];

const asked = async (...call: Parameters<typeof as>): Promise<Asked> => {
  const { status, text } = await as(...call);
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as Asked;
};

describe('the request that the application gets', () => {
  test('the application gets the path and query unchanged, below its own path', async () => {
    const one = await asked('GET', '/inventory/a%20b/c%2Fd//e?f=%2F&g');
    expect(one).toMatchObject({ method: 'GET', url: '/base/a%20b/c%2Fd//e?f=%2F&g', body: '' });
  });

  test.each([
    ['POST', { body: 'hello' }],
    ['PUT', { body: 'hello' }],
    ['QUERY', { body: 'hello', headers: { 'Content-Type': 'text/plain' } }],
    ['DELETE', { body: 'hello', headers: { 'Content-Length': 5 } }],
    ['PROPFIND', { body: 'hello' }],
    ['POST', { body: 'hello', headers: { 'Transfer-Encoding': 'chunked' } }],
    ['PUT', { body: 'hello', headers: { Expect: '100-continue', 'Content-Length': 5 } }],
  ])('the application gets a %s with its content, case %#', async (method, call) => {
    expect(await asked(method, '/inventory/x', call)).toMatchObject({ method, body: 'hello' });
  });

  test('the application gets the trailers, except those that the gateway writes', async () => {
    const token = gateway.token('inventory:write');
    const before = application.asked.length;
    await new Promise<void>((resolve, reject) => {
      const request = http.request({
        method: 'POST',
        port: gateway.listening.port,
        path: '/inventory/x',
        headers: { Authorization: `Bearer ${token}`, 'Transfer-Encoding': 'chunked' },
      });
      request.on('error', reject).on('response', (response) => {
        response.resume().on('end', resolve);
      });
      request.addTrailers({
        'X-Sum': '1',
        'X-Auth-Subject': 'admin',
        X_Auth_Statement: 'a',
        DPoP: 'a',
        'X-HTTP-Method-Override': 'DELETE',
        'X-Forwarded-For': '1.2.3.4',
      });
      request.end('hello');
    });
    const [one] = application.asked.slice(before);
    expect(one).toMatchObject({ body: 'hello', trailers: ['X-Sum', '1'] });
  });

  test.each(['POST', 'PUT', 'PATCH', 'MKCOL', 'LOCK'])(
    'the application gets a %s without content',
    async (method) => {
      const { fields } = await asked(method, '/inventory/x', { headers: { 'Content-Length': 0 } });
      expect(fields['transfer-encoding']).toBeUndefined();
      expect(fields['content-length'] ?? '0').toBe('0');
    },
  );

  test('the application gets no credentials, no fields of one connection, and no fields that change the method', async () => {
    const { raw, fields } = await asked('GET', '/inventory/x', {
      headers: {
        'Proxy-Authorization': 'Basic eA==',
        Connection: 'keep-alive, X-Hop',
        'X-Hop': '1',
        'Keep-Alive': 'timeout=5',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAAQAAP__',
        'X-HTTP-Method-Override': 'DELETE',
        'X-HTTP-Method': 'DELETE',
        'X-Method-Override': 'DELETE',
        'X-Original-URL': '/hop',
        'X-Rewrite-URL': '/hop',
        'X-Auth-Subject': 'admin',
        X_Auth_Subject: 'admin',
        'X-AUTH-Statement': 'e30.e30.e30',
        'X-Kept': 'yes',
      },
    });
    expect(fields['x-kept']).toBe('yes');
    const names = raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => /auth|hop|override|http|upgrade|keep-|url/.test(name))).toEqual([
      'x-auth-statement',
    ]);
  });

  test.each(['Authorization', 'Host', 'X-Forwarded-For', 'Content-Length', 'Origin'])(
    'a request whose Connection names %s, which the gateway reads, is refused (RFC 9110 section 7.6.1)',
    async (name) => {
      const { status } = await as('GET', '/inventory/x', { headers: { Connection: name } });
      expect(status).toBe(name === 'X-Forwarded-For' ? 200 : 400);
    },
  );

  test('RFC 9110 section 5.4: a request whose Connection has more than 1,024 members is refused', async () => {
    const headers = { Connection: 'x-hop,'.repeat(1025) };
    expect(await as('GET', '/inventory/x', { headers })).toMatchObject({ status: 400 });
  });

  test('the application gets Via, and the id of the request', async () => {
    const reply = await as('GET', '/inventory/x', { headers: { Via: '1.0 somebody' } });
    const { raw, fields } = JSON.parse(reply.text) as Asked;
    expect(lines(raw, 'via')).toEqual([
      '1.0 somebody',
      expect.stringMatching(/^1\.1 countersign-/),
    ]);
    expect(fields['x-request-id']).toBe(reply.headers['x-request-id']);
    expect(reply.headers['via']).toMatch(/^1\.1 countersign-/);
  });

  test("the application gets the public host, and the client's address and scheme", async () => {
    const headers = {
      Host: 'evil.example',
      'X-Forwarded-For': '203.0.113.9',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'evil.example',
      'X-Real-IP': '1.2.3.4',
    };
    const { fields } = await asked('GET', '/inventory/x', { headers });
    expect(fields).toMatchObject({
      host: 'rs.example',
      'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'rs.example',
    });
    expect(fields['x-real-ip']).toBeUndefined();
    expect(fields['x-forwarded-prefix']).toBeUndefined();
    expect((await asked('GET', '/keys/x')).fields['x-forwarded-prefix']).toBe('/keys');
  });

  test('the application gets its own host, and Forwarded (RFC 7239), if configured', async () => {
    const headers = {
      Host: 'rs.example',
      'X-Forwarded-For': '2001:db8::1',
      Forwarded: 'for=1.2.3.4',
    };
    const { fields } = await asked('GET', '/named/x', { headers });
    expect(fields.host).toBe(`127.0.0.1:${application.port}`);
    expect(fields['forwarded']).toBe(
      'for="[2001:db8::1]";host="rs.example";proto=http, for=127.0.0.1',
    );
    expect(fields['x-forwarded-for']).toBeUndefined();
  });

  test('the application gets no fields about the client, if configured', async () => {
    const { raw } = await asked('GET', '/silent/x', { headers: { 'X-Forwarded-For': '1.2.3.4' } });
    expect(raw.filter((name) => /forwarded/i.test(name))).toEqual([]);
  });

  test('the application gets Authorization in a space without authentication', async () => {
    const headers = { Authorization: 'Basic eDp5', DPoP: 'e30.e30.e30' };
    const { fields } = await asked('GET', '/open/x', { headers });
    expect(fields).toMatchObject({ authorization: 'Basic eDp5', dpop: 'e30.e30.e30' });
  });

  test('the application gets the Bearer token if the operator configures it', async () => {
    const { fields } = await asked('GET', '/passing/x');
    expect(fields.authorization).toMatch(/^Bearer ey/);
  });

  test('the application gets no API key in a field or the query, and no secret field', async () => {
    const { id, key, secret_hash } = newApiKey(systemRandom);
    const [realm, created_at] = ['keys', gateway.clock.now()];
    const scopes = ['keys:read'];
    await gateway.stores.apiKeys.add({
      id,
      secret_hash,
      application: 'a',
      realm,
      scopes,
      created_at,
    });
    const own = { 'X-Internal': 'b', X_Internal: 'c', X_API_Key: 'd' };
    for (const [target, headers] of [
      ['/keys/x?a=1&b=%20', { ...own, 'X-API-Key': key }],
      [`/keys/x?a=1&%6Bey=${key}&b=%20`, own],
    ] as const) {
      const { status, text } = await gateway.ask('GET', target, { headers });
      expect({ status, text }).toMatchObject({ status: 200 });
      expect(text).not.toMatch(/api.key|internal/i);
      expect(text).not.toContain(key);
      expect(JSON.parse(text)).toMatchObject({ url: '/x?a=1&b=%20' });
    }
  });
});

describe('the identity of the client', () => {
  const claimsOf = ({ fields }: Asked) => decodeJwt(String(fields['x-auth-statement']));

  test("the client's identity is in a statement for the application that is valid for a minute", async () => {
    const one = await asked('GET', '/told/x');
    const now = gateway.now();
    expect(claimsOf(one)).toEqual({
      iss: RESOURCE,
      aud: 'the shop',
      sub: 'machine',
      kind: 'application',
      scheme: 'Bearer',
      scope: 'told:read told:write',
      client_id: 'machine',
      iat: now,
      exp: now + 60,
    });
    expect(decodeProtectedHeader(String(one.fields['x-auth-statement']))).toMatchObject({
      alg: 'ES256',
      typ: 'gateway-identity+jwt',
    });
  });

  test('statements are signed with keys that are published at their address', async () => {
    const { fields } = await asked('GET', '/told/x');
    const { text } = await gateway.ask('GET', '/.well-known/countersign-gateway/jwks');
    const keys = createLocalJWKSet(JSON.parse(text));
    const { payload } = await jwtVerify(String(fields['x-auth-statement']), keys, {
      typ: 'gateway-identity+jwt',
      audience: 'the shop',
      issuer: RESOURCE,
      currentDate: new Date(gateway.clock.now()),
    });
    expect(payload.sub).toBe('machine');
  });

  test("the client's identity is in plain fields, if configured", async () => {
    const { fields } = await asked('GET', '/fields/x', { headers: { 'X-Auth-Name': 'admin' } });
    expect(fields).toMatchObject({
      'x-auth-subject': 'machine',
      'x-auth-name': '',
      'x-auth-client': 'machine',
      'x-auth-scope': 'fields:read fields:write',
      'x-auth-scheme': 'Bearer',
    });
    expect(fields['x-auth-statement']).toBeUndefined();
  });

  test('the audience of a statement is the first URL if the application has no name; the statement can be turned off', async () => {
    expect(claimsOf(await asked('GET', '/inventory/x')).aud).toBe(`${application.url}base/`);
    const { raw } = await asked('GET', '/untold/x');
    expect(raw.filter((name) => /^x-auth/i.test(name))).toEqual([]);
  });

  test('the client is anonymous in a space without authentication', async () => {
    const headers = { 'X-Auth-Statement': 'e30.e30.e30', 'X-Auth-Subject': 'admin' };
    const { raw } = await asked('GET', '/open/x', { headers });
    expect(raw.filter((name) => /^x-auth/i.test(name))).toEqual([]);
  });

  test('a statement of a revoked token is not passed on', async () => {
    const token = gateway.token('told:read');
    const headers = { Authorization: `Bearer ${token}` };
    expect((await gateway.ask('GET', '/told/x', { headers })).status).toBe(200);
    const { jti = '' } = decodeJwt(token);
    await gateway.stores.revocations.revoke('token', jti, gateway.clock.now() + 600_000);
    const before = application.asked.length;
    expect((await gateway.ask('GET', '/told/x', { headers })).status).toBe(401);
    expect(application.asked.length).toBe(before);
  });
});

describe('methods', () => {
  test('listed methods are passed on, including methods that this server does not support itself', async () => {
    expect(await asked('REPORT', '/listed/x')).toMatchObject({ method: 'REPORT' });
    expect(await asked('PURGE', '/listed/x')).toMatchObject({ method: 'PURGE' });
  });

  test('a 405 of the gateway names the methods of the gateway', async () => {
    const { status, headers, text } = await as('PUT', '/listed/x');
    expect({ status, allow: headers['allow'] }).toEqual({
      status: 405,
      allow: 'GET, HEAD, OPTIONS, PURGE, REPORT',
    });
    expect(text).toContain('gateway');
  });

  test('a method that no space lists is 501', async () => {
    expect((await as('SEARCH', '/inventory/x')).status).toBe(501);
    expect((await as('REPORT', '/inventory/x')).status).toBe(405);
  });

  test('the gateway answers TRACE itself, and shows nothing of the application', async () => {
    const before = application.asked.length;
    const { status, text } = await as('TRACE', '/traced/x');
    expect({ status, text }).toEqual({
      status: 200,
      text: expect.stringContaining('TRACE /traced/x'),
    });
    expect(text).not.toContain('Bearer');
    expect((await as('TRACE', '/inventory/x')).status).toBe(405);
    expect(application.asked.length).toBe(before);
  });

  test('the gateway answers OPTIONS that may not be forwarded (RFC 9110 section 7.6.2)', async () => {
    const { status, headers } = await as('OPTIONS', '/listed/x', {
      headers: { 'Max-Forwards': 0 },
    });
    expect({ status, allow: headers['allow'] }).toEqual({
      status: 204,
      allow: 'GET, HEAD, OPTIONS, PURGE, REPORT',
    });
    const { fields } = await asked('OPTIONS', '/listed/x', { headers: { 'Max-Forwards': 3 } });
    expect(fields['max-forwards']).toBe('2');
  });

  test('the gateway answers a preflight with the methods of the space', async () => {
    const headers = {
      Origin: 'https://pages.example',
      'Access-Control-Request-Method': 'REPORT',
      Authorization: '',
    };
    const { status, headers: got } = await gateway.ask('OPTIONS', '/listed/x', { headers });
    expect({ status, methods: got['access-control-allow-methods'] }).toEqual({
      status: 204,
      methods: 'GET, HEAD, OPTIONS, PURGE, REPORT',
    });
  });
});

describe('paths that could be read in two ways', () => {
  test.each([
    '/inventory/../keys/x',
    '/inventory/%2e%2e/keys/x',
    '/inventory/..%2fkeys/x',
    '/inventory/..;/keys/x',
    '/inventory/%252e%252e/x',
    '/keys/INNER/x',
    '/keys/a%2f..%2finner',
    '/keys//inner/x',
    '/keys/inner%2fx',
    '/keys%2finner/x',
    '/keys/inner;x/y',
    '/keys/inner./x',
    '/keys/inner%20/x',
    '/keys/%ef%bd%89nner/x',
    '/inventory/a%00b',
    '/inventory/a%zz',
  ])('the gateway answers 400 to %s, a path that could be read in two ways', async (path) => {
    const before = application.asked.length;
    const { status } = await as('GET', path);
    expect({ path, status }).toEqual({ path, status: path === '/inventory/a%zz' ? 200 : status });
    if (path !== '/inventory/a%zz') {
      expect([400, 404]).toContain(status);
      expect(application.asked.length).toBe(before);
    }
  });
});

test('an application that cannot be reached gives 502, and the log has the reason', async () => {
  await using other = await startGateway({
    gone: { upstream: { url: 'http://127.0.0.1:9/' } },
  });
  const { status, text, headers } = await clientOf(other)('GET', '/gone/x');
  expect({ status, type: headers['content-type'] }).toEqual({
    status: 502,
    type: 'application/problem+json',
  });
  expect(text).toContain(String(headers['x-request-id']));
  expect(text).toContain('gateway');
});

test('a request without credentials is refused, and the application gets no request', async () => {
  const before = application.asked.length;
  const { status, headers } = await gateway.ask('GET', '/inventory/x');
  expect({ status, challenge: headers['www-authenticate'] }).toEqual({
    status: 401,
    challenge: expect.stringMatching(/^Bearer/),
  });
  expect(application.asked.length).toBe(before);
});

describe('the answer that the client gets', () => {
  let other: Application;
  let behind: Awaited<ReturnType<typeof startGateway>>;
  let said: (response: http.ServerResponse, request: http.IncomingMessage) => void;
  let client: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    other = await startApplication((request, response) => said(response, request));
    behind = await startGateway({
      shop: { upstream: { url: `${other.url}base/` }, methods: ['GET', 'PUT', 'OPTIONS'] },
    });
    client = clientOf(behind);
  });
  afterAll(async () => {
    await behind[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });

  test.each([
    ['/base/login?x#y', '/shop/login?x#y'],
    ['/elsewhere', '/elsewhere'],
    ['relative', 'relative'],
    ['https://example.com/base/', 'https://example.com/base/'],
    ['SELF/base/a', `${RESOURCE}/shop/a`],
    ['https://rs.example/base/a', `${RESOURCE}/shop/a`],
    ['//rs.example/base/a', `${RESOURCE}/shop/a`],
  ])('the gateway rewrites Location %s to %s', async (given, expected) => {
    said = (response) => {
      const location = given.replace('SELF', other.url.slice(0, -1));
      response.writeHead(302, { Location: location, 'Content-Location': location }).end();
    };
    const { headers } = await client('GET', '/shop/x', { headers: { Host: 'rs.example' } });
    expect(headers.location).toBe(expected);
    expect(headers['content-location']).toBe(expected);
  });

  test('the gateway changes cookies to the paths of the space', async () => {
    said = (response) => {
      response.setHeader('Set-Cookie', [
        'a=1; Path=/base; HttpOnly',
        'b=2; path=/',
        'c=3',
        '__Host-d=4; Path=/; Secure',
      ]);
      response.end();
    };
    expect((await client('GET', '/shop/x')).headers['set-cookie']).toEqual([
      'a=1; Path=/shop; HttpOnly',
      'b=2; Path=/shop/',
      'c=3',
      '__Host-d=4; Path=/; Secure',
    ]);
  });

  test('Allow has only the methods of the application that the space lists', async () => {
    said = (response) => response.writeHead(405, { Allow: 'GET, PUT, DELETE' }).end();
    expect((await client('GET', '/shop/x')).headers.allow).toBe('GET, PUT');
    said = (response) => response.writeHead(405).end();
    expect((await client('GET', '/shop/x')).headers.allow).toBe('GET, HEAD, OPTIONS, PUT');
    said = (response) => response.writeHead(200, { Allow: 'PUT' }).end();
    expect((await client('OPTIONS', '/shop/x')).headers.allow).toBe('PUT');
  });

  test.each([{}, { TE: 'trailers', Connection: 'TE' }])(
    'the gateway keeps the reason phrase of an unknown status (RFC 9112 section 4): %j',
    async (fields) => {
      said = (response) => response.writeHead(299, 'Odd').end();
      const sent = http.get({
        port: behind.listening.port,
        path: '/shop/x',
        headers: { Authorization: `Bearer ${behind.token('shop:read')}`, ...fields },
      });
      const [answer] = (await once(sent, 'response')) as [http.IncomingMessage];
      answer.resume();
      expect([answer.statusCode, answer.statusMessage]).toEqual([299, 'Odd']);
    },
  );

  test("the gateway keeps the policy of the application's pages, and decides which origins may read them", async () => {
    said = (response) => {
      response.setHeader('Content-Security-Policy', "default-src 'self'");
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Alt-Svc', 'h3=":443"');
      response.setHeader('Strict-Transport-Security', 'max-age=0');
      response.setHeader('Clear-Site-Data', '"*"');
      response.end('x');
    };
    const { headers } = await client('GET', '/shop/x', {
      headers: { Origin: 'https://pages.example' },
    });
    expect(headers['content-security-policy']).toBe("default-src 'self'");
    expect(headers['x-content-type-options']).toBeUndefined();
    expect(headers['access-control-allow-origin']).toBe('https://pages.example');
    expect(headers['alt-svc']).toBeUndefined();
    expect(headers['strict-transport-security']).not.toBe('max-age=0');
    expect(headers['clear-site-data']).toBeUndefined();
  });

  test('the gateway passes on early hints, chunked content and trailers', async () => {
    said = (response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write('one ');
      setTimeout(() => {
        response.addTrailers({ 'X-Sum': '7' });
        response.end('two');
      }, 20);
    };
    const { hints, text, trailers } = await new Promise<Record<string, unknown>>(
      (resolve, reject) => {
        const heard: unknown[] = [];
        const request = http.get({
          port: behind.listening.port,
          path: '/shop/x',
          headers: { Authorization: `Bearer ${behind.token('shop:read')}` },
        });
        request.on('information', ({ statusCode, headers }) =>
          heard.push(statusCode, headers['link']),
        );
        request.on('error', reject);
        request.on('response', (response) => {
          let whole = '';
          response.on('data', (piece: Buffer) => (whole += String(piece)));
          response.on('end', () =>
            resolve({ hints: heard, text: whole, trailers: response.rawTrailers }),
          );
        });
      },
    );
    expect({ hints, text, trailers }).toEqual({
      hints: [103, '</style.css>; rel=preload'],
      text: 'one two',
      trailers: ['X-Sum', '7'],
    });
  });

  test('an answer to HEAD, a 204 and a 304 have no content', async () => {
    said = (response) => response.writeHead(200, { 'Content-Length': 5, ETag: '"a"' }).end();
    const head = await client('HEAD', '/shop/x');
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '5', '']);
    said = (response) => response.writeHead(204).end();
    expect((await client('GET', '/shop/x')).status).toBe(204);
    said = (response) => response.writeHead(304, { ETag: '"a"' }).end();
    expect((await client('GET', '/shop/x')).status).toBe(304);
  });

  test('RFC 9110 section 15.2: an HTTP/1.0 client gets no interim answers', async () => {
    said = (response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('content');
    };
    const token = behind.token('shop:read');
    const answer = await new Promise<string>((resolve) => {
      let heard = '';
      const socket = connect(behind.listening.port, '127.0.0.1');
      socket
        .on('data', (piece: Buffer) => (heard += String(piece)))
        .on('close', () => resolve(heard));
      socket.write(`GET /shop/x HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*content$/s);
  });
});

test('an HTTP/1.0 request without Host is served under the configured origin', async () => {
  const token = gateway.token('inventory:read');
  const answer = await new Promise<string>((resolve) => {
    let heard = '';
    const socket = connect(gateway.listening.port, '127.0.0.1');
    socket
      .on('data', (piece: Buffer) => (heard += String(piece)))
      .on('close', () => resolve(heard));
    socket.write(`GET /inventory/old HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(application.asked.at(-1)).toMatchObject({
    url: '/base/old',
    fields: { host: 'rs.example' },
  });
});

test('a header section of the application that arrives too slowly is 504', async () => {
  const dripping = createServer((socket) => {
    socket.on('error', () => {});
    const drops = setInterval(() => socket.write('x'), 100);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nX-Long: '));
    socket.once('close', () => clearInterval(drops));
  });
  await once(dripping.listen(0, '127.0.0.1'), 'listening');
  const { port } = dripping.address() as AddressInfo;
  await using slow = await startGateway({
    drip: { upstream: { url: `http://127.0.0.1:${port}/`, timeout: 1 } },
  });
  for (const call of [{}, { body: 'x', headers: { 'Transfer-Encoding': 'chunked' } }]) {
    expect((await clientOf(slow)('POST', '/drip/x', call)).status).toBe(504);
  }
  dripping.close();
});

describe('an MCP server with tools that need more scopes', () => {
  const JSON_FIELD = { 'Content-Type': 'application/json' };
  const call = (name: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name },
  });
  const sent = (scope: string, body: string | Buffer, fields: object = JSON_FIELD) =>
    gateway.ask('POST', '/mcp/', {
      headers: { Authorization: `Bearer ${gateway.token(scope)}`, ...fields },
      body,
    });
  /** Expects a refusal without a request to the application. */
  const refused = async (reply: Promise<{ status: number }>) => {
    const before = application.asked.length;
    const { status } = await reply;
    expect(application.asked).toHaveLength(before);
    return status;
  };

  test.each([
    ['a tool that needs nothing more', 'mcp:read', call('list_notes')],
    ['a tool that needs more', 'mcp:read mcp:write', call('add_note')],
    ['a batch', 'mcp:read mcp:write mcp:share', [call('add_note'), call('share_note')]],
    ['another message', 'mcp:read', { method: 'prompts/get', params: { name: 'add_note' } }],
  ])(
    'for a call of %s with its scopes, the application gets the message unchanged',
    async (_, scope, message) => {
      const body = JSON.stringify(message, undefined, 1);
      const { status, text } = await sent(scope, body);
      expect(status).toBe(200);
      expect(JSON.parse(text)).toMatchObject({ body });
    },
  );

  test('RFC 6750 section 3.1: a 403 has one challenge with the needed scopes and those that the token has', async () => {
    const body = JSON.stringify([call('add_note'), call('share_note')]);
    const before = application.asked.length;
    const { status, headers } = await sent('mcp:read mcp:other', body);
    expect(status).toBe(403);
    expect(headers['www-authenticate']).toMatch(
      /^Bearer .*error="insufficient_scope".*scope="mcp:read mcp:write mcp:share mcp:other".*resource_metadata="/,
    );
    expect(application.asked).toHaveLength(before);
  });

  test('a token without the scopes of the method is refused before the message is read', async () => {
    expect(await refused(sent('mcp:write', 'no JSON'))).toBe(403);
  });

  test.each([
    [200, 'nothing', ''],
    [400, 'no JSON', '{'],
    [400, 'a name that comes twice (RFC 8259 section 4)', '{"method":"tools/list","method":"a"}'],
    [400, 'UTF-16', Buffer.from(JSON.stringify(call('add_note')), 'utf16le')],
    [422, 'a message that is nested too deep', `${'['.repeat(300)}${']'.repeat(300)}`],
    [413, 'a message that is too long', `"${'x'.repeat(4 * 1024 * 1024)}"`],
    [
      403,
      'the name of a member in other letters',
      JSON.stringify({ ...call('x'), Params: { NAME: 'add_note' } }),
    ],
    [
      403,
      'a name in escapes',
      JSON.stringify(call('add_note')).replace('add', String.raw`\u0061dd`),
    ],
  ])('an MCP call gets %i: %s', async (expected, _, body) => {
    const reply = sent('mcp:read', body);
    expect(await (expected === 200 ? reply.then(({ status }) => status) : refused(reply))).toBe(
      expected,
    );
  });

  /** A long first member, so that the message is too long to be parsed in the event loop. */
  const LONG = `"x":"${'x'.repeat(READ_AT_ONCE)}",`;
  const long = (message: object) => JSON.stringify(message).replace('{', `{${LONG}`);

  test.each([
    [200, 'a tool that needs nothing more', long(call('list_notes'))],
    [403, 'a tool that needs more', long(call('add_note'))],
    [
      403,
      'a tool in the last of a batch',
      `[${long(call('list_notes'))},${long(call('add_note'))}]`,
    ],
    [403, 'a prototype', `{${LONG}"__proto__":${JSON.stringify(call('add_note'))}}`],
    [400, 'no JSON', long(call('list_notes')).slice(0, -1)],
    [400, 'a name that comes twice', `{${LONG}${LONG}"method":"tools/list"}`],
    [422, 'a message that is nested too deep', `{${LONG}"y":${'['.repeat(300)}${']'.repeat(300)}}`],
  ])('an MCP call whose message is parsed on a thread gets %i: %s', async (expected, _, body) => {
    const reply = sent('mcp:read', body);
    expect(await (expected === 200 ? reply.then(({ status }) => status) : refused(reply))).toBe(
      expected,
    );
  });

  test.each([
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/json; charset=utf-7' },
    { ...JSON_FIELD, 'Content-Encoding': 'gzip' },
    {},
  ])('an MCP message that servers could read differently gets 415: %j', async (fields) => {
    expect(await refused(sent('mcp:read', JSON.stringify(call('add_note')), fields))).toBe(415);
  });

  test('an MCP call that arrives slowly gets 403 if the token is revoked meanwhile', async () => {
    const jti = 'slow call';
    const authorization = `Bearer ${gateway.token('mcp:read', { jti })}`;
    const slow = sendSlowly(
      {
        url: `http://127.0.0.1:${gateway.listening.port}/mcp/`,
        headers: { Host: 'rs.example', Authorization: authorization, ...JSON_FIELD },
        content: Buffer.from(JSON.stringify(call('list_notes'))),
      },
      async () => {
        gateway.clock.advance(2);
        const { revocations } = gateway.stores;
        await revocations.revoke('token', jti, gateway.clock.now() + 600_000);
      },
    );
    expect(await refused(slow)).toBe(403);
  });

  test('a WebSocket to an MCP server is refused, since calls in it would not be checked', async () => {
    const { status, text } = await gateway.ask('GET', '/mcp/', {
      headers: {
        Authorization: `Bearer ${gateway.token('mcp:read')}`,
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    });
    expect(status).toBe(200);
    expect((JSON.parse(text) as Asked).fields.upgrade).toBeUndefined();
  });

  test('an MCP call in chunked content or by another method is checked, too', async () => {
    const headers = {
      Authorization: `Bearer ${gateway.token('mcp:read')}`,
      'Transfer-Encoding': 'chunked',
      ...JSON_FIELD,
    };
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const reply = gateway.ask(method, '/mcp/', {
        headers,
        body: JSON.stringify(call('add_note')),
      });
      expect([method, await refused(reply)]).toEqual([method, 403]);
    }
  });
});

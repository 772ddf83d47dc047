import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type DpopProver, dpopProver } from '../../setup/dpop-prover.ts';
import { freePort } from '../../parts/free-port.ts';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { startCaddy, startNginx } from './proxies.ts';
import { rawHttp, statusOf } from '../../parts/raw-http.ts';

/** Debian's nginx and Caddy ask `GET /verify`, in front of an application without OAuth. */
interface Reached {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string | undefined>;
  readonly body: string;
}

describe.each([
  // nginx turns every answer of /verify into 500, except 2xx, 401 and 403.
  {
    name: 'nginx',
    start: startNginx,
    away: 500,
    tellsNonceOfSuccess: true,
    question: '/countersign-verify',
  },
  { name: 'Caddy', start: startCaddy, away: 502, tellsNonceOfSuccess: false },
])('$name', ({ start, away, tellsNonceOfSuccess, question }) => {
  const parts = new AsyncDisposableStack();
  let origin: string;
  let pair: Pair;
  let machine: { id: string; secret: string };
  /** The requests that the application received. */
  let reached: Reached[] = [];

  beforeAll(async () => {
    origin = `http://127.0.0.1:${await freePort()}`;
    pair = parts.use(
      await startPair({
        settings: {
          trustedProxies: ['127.0.0.1/32'],
          spaces: [
            { ...space('/', 'app'), identity: { fields: 'remote-user' } },
            { ...space('/hidden/', 'hidden'), hide: 'forbidden' },
            { ...space('/bound/', 'bound'), schemes: ['DPoP'], nonce: true },
          ],
        },
      }),
    );
    machine = await pair.addClient('app:read app:write hidden:read bound:read');
    const application = await startApplication();
    const { resource, data: folder } = pair;
    parts.use(await start({ folder, origin, resource, application }));
  });
  afterAll(() => parts.disposeAsync());
  beforeEach(() => {
    reached = [];
  });

  const space = (path: string, realm: string) => ({
    url: origin + path,
    realm,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: [`${realm}:read`], unsafe: [`${realm}:write`] },
    serves: 'verify',
  });

  async function startApplication(): Promise<string> {
    const server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      void text(request).then((body) => {
        reached.push({ method, url, headers: headers as Reached['headers'], body });
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ hello: headers['x-auth-subject'] }));
      });
    });
    parts.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function token(scope = 'app:read', path = '/', prover?: DpopProver): Promise<string> {
    const url = `${pair.issuer}/token`;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${machine.id}:${machine.secret}`)}`,
        ...(prover && { dpop: await prover.proof({ method: 'POST', url }) }),
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: origin + path,
        scope,
      }),
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    if (access_token === undefined) throw new Error(`no token: ${response.status}`);
    return access_token;
  }

  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(origin + path, { redirect: 'manual', ...init });

  describe('an admitted request', () => {
    test("gives the application the caller's identity, without the token and without an API key", async () => {
      const headers = { ...bearer(await token()), 'X-API-Key': 'a key' };
      const response = await ask('/reports/1?year=2026', { headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ hello: machine.id });
      expect(reached).toEqual([
        expect.objectContaining({
          method: 'GET',
          url: '/reports/1?year=2026',
          headers: expect.objectContaining({
            'x-auth-subject': machine.id,
            'x-auth-client': machine.id,
            'x-auth-scope': 'app:read',
            'x-auth-scheme': 'Bearer',
          }),
        }),
      ]);
      expect(reached[0]?.headers).not.toHaveProperty('authorization');
      expect(reached[0]?.headers).not.toHaveProperty('x-api-key');
    });

    test.each(['/a%20b', '/%C3%BC?q=%2F&r=%00', '/a;b,c', '/a?access=1', '/caf%c3%a9/'])(
      'reaches the application with an unchanged target: %s',
      async (target) => {
        expect((await ask(target, { headers: bearer(await token()) })).status).toBe(200);
        expect(reached.map(({ url }) => url)).toEqual([target]);
      },
    );

    test('reaches the application with its method and content, of any length and coding', async () => {
      const headers = bearer(await token('app:write'));
      const body = 'x'.repeat(300_000);
      expect((await ask('/a', { method: 'POST', headers, body })).status).toBe(200);
      const chunked = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('in pieces'));
          controller.close();
        },
      });
      const stream = { method: 'PUT', headers, body: chunked, duplex: 'half' } as const;
      expect((await ask('/a', stream)).status).toBe(200);
      expect(reached.map(({ method, body: { length } }) => [method, length])).toEqual([
        ['POST', 300_000],
        ['PUT', 9],
      ]);
    });

    test('may be HEAD with the scope for GET', async () => {
      const response = await ask('/a', { method: 'HEAD', headers: bearer(await token()) });
      expect(response.status).toBe(200);
      expect(reached.map(({ method }) => method)).toEqual(['HEAD']);
    });
  });

  describe('a refused request never reaches the application:', () => {
    const refused = async (response: Response, status: number) => {
      expect(response.status).toBe(status);
      expect(reached).toEqual([]);
      return response.headers.get('www-authenticate');
    };

    test('without credentials it gets 401 with the challenges of both schemes, which lead to the metadata', async () => {
      const challenges = await refused(await ask('/a'), 401);
      expect(challenges).toMatch(/^Bearer realm="app".*, DPoP realm="app"/);
      const [, url = ''] = /resource_metadata="([^"]+)"/.exec(challenges ?? '') ?? [];
      expect(url).toBe(`${origin}/.well-known/oauth-protected-resource`);
      expect(await (await fetch(url)).json()).toMatchObject({
        resource: `${origin}/`,
        authorization_servers: [pair.issuer],
      });
    });

    test.each(['Bearer x.y.z', 'Bearer', 'Basic YTpi', 'nonsense', 'Bearer a b', 'Bearer '])(
      'with malformed credentials %j it gets 401',
      async (authorization) => {
        expect(await refused(await ask('/a', { headers: { authorization } }), 401)).toContain(
          'Bearer',
        );
      },
    );

    test('RFC 6750 section 3.1: with too little scope it gets 403 with the required scope', async () => {
      const headers = bearer(await token('app:read'));
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const challenge = await refused(await ask('/a', { method, headers }), 403);
        expect(challenge).toMatch(
          /^Bearer .*error="insufficient_scope".*scope="app:write app:read"/,
        );
      }
    });

    test('with too little scope for a hidden space it gets 403 without scopes', async () => {
      const headers = bearer(await token('hidden:read', '/hidden/'));
      expect((await ask('/hidden/a', { headers })).status).toBe(200);
      reached = [];
      const response = await ask('/hidden/a', { method: 'POST', headers });
      expect(await refused(response, 403)).toBeNull();
    });

    test('with a token of another space it gets 401', async () => {
      await refused(
        await ask('/a', { headers: bearer(await token('hidden:read', '/hidden/')) }),
        401,
      );
      await refused(await ask('/hidden/a', { headers: bearer(await token()) }), 401);
    });

    test.each([
      '/a%2Fb',
      '/a%5Cb',
      '/a%00b',
      '/a//b',
      '/x/../hidden/a',
      '/%2e%2e/a',
      '/x/%2e%2e/hidden/a',
      '/./a',
      '/a%ff',
      '//evil.example/a',
      '/hidden%2Fa',
    ])('a path with two readings: %s', async (target) => {
      const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${await token()}\r\n\r\n`;
      const status = statusOf(await rawHttp(origin, request));
      expect([400, 403]).toContain(status);
      expect(reached).toEqual([]);
    });

    test('RFC 7009: with a revoked token it gets 401 from the next request on', async () => {
      const revoked = await token();
      const headers = bearer(revoked);
      expect((await ask('/a', { headers })).status).toBe(200);
      await pair.post('/token/revocation', { token: revoked }, machine);
      reached = [];
      expect(await refused(await ask('/a', { headers }), 401)).toContain('error="invalid_token"');
    });

    if (question !== undefined) {
      test("a request to the proxy's own question gets 404", async () => {
        for (const path of [question, `${question}?x`]) {
          await refused(await ask(path, { headers: bearer(await token()) }), 404);
        }
      });
    }
  });

  describe('DPoP (RFC 9449): htu is the URL that the client uses', () => {
    const send = async (
      value: string,
      prover: DpopProver,
      proof: { method?: string; url?: string; nonce?: string | undefined; path?: string } = {},
    ) => {
      const { method = 'GET', path = '/a', url = origin + path, nonce } = proof;
      const dpop = await prover.proof({ method, url, accessToken: value, nonce });
      return ask(path, { headers: { authorization: `DPoP ${value}`, dpop } });
    };
    const newProver = () => dpopProver();

    test('a bound token is admitted with its proof, and refused without one, for another URL, or as Bearer', async () => {
      const prover = await newProver();
      const bound = await token('app:read', '/', prover);
      expect((await send(bound, prover)).status).toBe(200);
      expect(reached[0]?.headers).toMatchObject({ 'x-auth-scheme': 'DPoP' });
      expect(reached[0]?.headers).not.toHaveProperty('dpop');
      reached = [];
      const refusals = [
        await send(bound, prover, { url: `${pair.resource}/verify` }),
        await send(bound, prover, { url: `${pair.resource}/a` }),
        await send(bound, prover, { url: `${origin}/b` }),
        await send(bound, prover, { method: 'POST' }),
        await send(bound, await newProver()),
        await ask('/a', { headers: bearer(bound) }),
        await ask('/a', { headers: { authorization: `DPoP ${bound}` } }),
      ];
      expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 401));
      expect(reached).toEqual([]);
    });

    test('section 11.1: if a proof is used ten times, one use reaches the application', async () => {
      const prover = await newProver();
      const bound = await token('app:read', '/', prover);
      const dpop = await prover.proof({ method: 'GET', url: `${origin}/a`, accessToken: bound });
      const headers = { authorization: `DPoP ${bound}`, dpop };
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask('/a', { headers })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
      expect(reached).toHaveLength(1);
    });

    test('section 9: a refusal has a nonce, and nginx passes the nonce of a success, too', async () => {
      const prover = await newProver();
      const bound = await token('bound:read', '/bound/', prover);
      const first = await send(bound, prover, { path: '/bound/a' });
      expect(first.status).toBe(401);
      expect(first.headers.get('www-authenticate')).toContain('error="use_dpop_nonce"');
      const nonce = first.headers.get('dpop-nonce') ?? '';
      expect(nonce).not.toBe('');
      const second = await send(bound, prover, { path: '/bound/a', nonce });
      expect(second.status).toBe(200);
      expect(second.headers.has('dpop-nonce')).toBe(tellsNonceOfSuccess);
    });

    test('two DPoP fields are refused', async () => {
      const prover = await newProver();
      const bound = await token('app:read', '/', prover);
      const proof = () => prover.proof({ method: 'GET', url: `${origin}/a`, accessToken: bound });
      const lines = [`DPoP: ${await proof()}`, `DPoP: ${await proof()}`].join('\r\n');
      const request = `GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: DPoP ${bound}\r\n${lines}\r\n\r\n`;
      expect(statusOf(await rawHttp(origin, request))).toBe(401);
      expect(reached).toEqual([]);
    });
  });

  describe('forged fields', () => {
    test('identity fields of the client are replaced', async () => {
      const forged = {
        'x-auth-subject': 'somebody-else',
        'x-auth-name': 'somebody-else',
        'x-auth-email': 'somebody-else@example.com',
        'x-auth-groups': 'somebody-else',
        'x-auth-client': 'somebody-else',
        'x-auth-scope': 'all',
        'x-auth-scheme': 'None',
        X_Auth_Subject: 'somebody-else',
        'Remote-User': 'somebody-else',
        'remote-email': 'somebody-else',
        'REMOTE-GROUPS': 'somebody-else',
        Remote_User: 'somebody-else',
        REMOTE_EMAIL: 'somebody-else',
      };
      await ask('/a', { headers: { ...bearer(await token()), ...forged } });
      expect(reached).toHaveLength(1);
      expect(reached[0]?.headers).toMatchObject({
        'x-auth-subject': machine.id,
        'x-auth-client': machine.id,
        'x-auth-scope': 'app:read',
        'x-auth-scheme': 'Bearer',
      });
      expect(JSON.stringify(reached)).not.toContain('somebody-else');
    });

    test('X-Forwarded-* fields of the client change neither the checked method nor the checked address', async () => {
      const headers = {
        ...bearer(await token('app:read')),
        'x-forwarded-method': 'GET',
        'x-forwarded-uri': '/hidden/a',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        'x-original-url': '/hidden/a',
        'x-original-method': 'GET',
        forwarded: 'for=10.0.0.1;host=evil.example;proto=https',
      };
      expect((await ask('/a', { method: 'DELETE', headers })).status).toBe(403);
      expect((await ask('/a', { headers })).status).toBe(200);
    });

    test('the Host field and an absolute target change nothing', async () => {
      const line = `Authorization: Bearer ${await token()}\r\nConnection: close\r\n\r\n`;
      const hosts = [
        `GET /a HTTP/1.1\r\nHost: evil.example\r\n${line}`,
        `GET http://evil.example/a HTTP/1.1\r\nHost: evil.example\r\n${line}`,
      ];
      for (const request of hosts) expect(statusOf(await rawHttp(origin, request))).toBe(200);
      expect(reached.map(({ url }) => url)).toEqual(['/a', '/a']);
    });

    test('two Authorization fields never reach the application', async () => {
      const good = await token();
      for (const lines of [
        [`Authorization: Bearer ${good}`, 'Authorization: Bearer x'],
        ['Authorization: Bearer x', `Authorization: Bearer ${good}`],
      ]) {
        const request = `GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`;
        const status = statusOf(await rawHttp(origin, request));
        expect(status).toBeGreaterThanOrEqual(400);
        expect(reached).toEqual([]);
      }
    });

    test('a token in the query is refused (RFC 6750 section 2.3)', async () => {
      const good = await token();
      expect((await ask(`/a?access_token=${good}`)).status).toBe(401);
      const both = await ask(`/a?access_token=${good}`, { headers: bearer(good) });
      expect([400, 401]).toContain(both.status);
      expect(reached).toEqual([]);
    });
  });

  test.each<[string, readonly string[]]>([
    ['a name that is too easily taken for another', ['Content--Length: 5']],
    ['250 fields', Array.from({ length: 250 }, (_, index) => `X-${index}: x`)],
    ['a control character', ['X-Note: a\u0001b']],
    ['a malformed Max-Forwards', ['Max-Forwards: many']],
    ['two of a field that comes once', ['Max-Forwards: 1', 'Max-Forwards: 2']],
    ['malformed credentials', ['Authorization: Bearer a b']],
  ])('%s: the proxy answers with a refusal and not with 500 or 502', async (_what, lines) => {
    const head = ['GET /a HTTP/1.1', 'Host: a', 'Connection: close', ...lines];
    const answer = await rawHttp(origin, `${head.join('\r\n')}\r\n\r\n`);
    expect([400, 401, 403]).toContain(statusOf(answer));
    expect(reached).toEqual([]);
  });

  test('while the resource server is down, the proxy admits no request', async () => {
    const headers = bearer(await token());
    expect((await ask('/a', { headers })).status).toBe(200);
    reached = [];
    await pair.resources[0]?.kill();
    const answers = await Promise.all([ask('/a', { headers }), ask('/a')]);
    expect(answers.map(({ status }) => status)).toEqual([away, away]);
    expect(reached).toEqual([]);
    await pair.resources[0]?.start();
    expect((await ask('/a')).status).toBe(401);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRemoteJWKSet, decodeJwt, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import {
  type Answer,
  type Asked,
  type Client,
  connectTo,
  valueOf,
  valuesOf,
  type Version,
  VERSIONS,
} from '../interop/gateway/client.ts';
import type { Field } from '../clients/digest/exchange.ts';
import { basic, type GatewaySite, startGatewaySite } from '../interop/gateway/gateway-site.ts';
import { ALICE, JASON } from '../interop/site.ts';
import { type RawRequest, type RawUpstream, startRawUpstream } from '../parts/raw-upstream.ts';

/** Attacks through the gateway by the fields of a client or of an application. */
const NAME = 'inventory';
const HIDDEN = 'X-Internal-Token';
/** Long enough that no random identifier contains it by accident. */
const SOMEBODY_ELSE = 'somebody-else';

const parts = new AsyncDisposableStack();
let upstream: RawUpstream;
let site: GatewaySite;
let key: string;
let token: string;
/** The next answer of the application; default: 200. */
let says: string | undefined;
const clients = new Map<Version, Client>();

beforeAll(async () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  upstream = parts.use(
    await startRawUpstream(async ({ socket, content }) => {
      await content();
      socket.write(says ?? ok, 'latin1');
    }),
  );
  const url = `${upstream.url}/base/`;
  site = parts.use(
    await startGatewaySite((origin) => ({
      loop: { schemes: [], upstream: { url: `${origin}/loop/` } },
      app: {
        upstream: { url, name: NAME, identity: ['statement', 'fields'], secrets: [HIDDEN] },
        methods: ['GET', 'POST', 'OPTIONS'],
      },
      keys: { schemes: ['API-Key'], apiKey: { query: 'key' }, upstream: { url } },
      tokens: { schemes: ['Bearer'], upstream: { url } },
      passing: {
        schemes: ['Bearer', 'Basic'],
        scopes: { safe: ['a'], unsafe: ['a'] },
        grants: { everyone: ['a'] },
        upstream: { url, authorization: 'pass' },
      },
      open: { schemes: [], upstream: { url, identity: ['statement', 'fields'] } },
    })),
  );
  const whose = ['--application', 'Bench', '--realm', 'keys'];
  key = String((await site.pair.cli('key', 'add', ...whose))['key']);
  const { id, secret } = await site.pair.addClient('a');
  const resource = `${site.origin}/passing/`;
  const form = { grant_type: 'client_credentials', resource };
  token = String((await site.pair.post('/token', form, { id, secret })).body['access_token']);
  for (const version of VERSIONS) clients.set(version, parts.use(connectTo(site.origin, version)));
});
afterAll(async () => parts.disposeAsync());
beforeEach(() => {
  says = undefined;
  upstream.take();
});

async function ask(version: Version, path: string, asked: Asked = {}): Promise<Answer> {
  const client = clients.get(version);
  if (client === undefined) throw new Error(`no client of ${version}`);
  return client.ask(path, asked);
}
/** Sends a request with the credentials of alice. */
const asAlice = (version: Version, fields: readonly Field[] = [], asked: Asked = {}) =>
  ask(version, '/app/x', { ...asked, fields: [basic(), ...fields] });

/** The one request that the application received. */
function arrived(): RawRequest {
  const came = upstream.take();
  expect(upstream.unreadable).toEqual([]);
  expect(came).toHaveLength(1);
  const [one] = came;
  if (one === undefined) throw new Error('nothing came');
  return one;
}
const of = ({ lines }: RawRequest, name: string) =>
  lines.flatMap(([one, value]) => (one.toLowerCase() === name.toLowerCase() ? [value] : []));
/** All parts of a request that could contain a secret. */
const all = ({ method, target, lines, read }: RawRequest) =>
  JSON.stringify([method, target, lines, read]);

describe.each(VERSIONS)('%s', (version) => {
  describe('the identity that the application gets', () => {
    test('is a statement and, if configured, plain fields', async () => {
      expect((await asAlice(version)).status).toBe(200);
      const request = arrived();
      const [statement = '', ...more] = of(request, 'X-Auth-Statement');
      expect(more).toEqual([]);
      const jwks = createRemoteJWKSet(
        new URL('/.well-known/countersign-gateway/jwks', site.origin),
      );
      const verified = await jwtVerify(statement, jwks, {
        issuer: site.origin,
        audience: NAME,
        typ: 'gateway-identity+jwt',
        algorithms: ['ES256'],
      });
      expect(verified.payload).toMatchObject({ name: ALICE.name, scheme: 'Basic' });
      const { exp = 0, iat = 0 } = verified.payload;
      expect(exp - iat).toBe(60);
      expect(of(request, 'X-Auth-Scheme')).toEqual(['Basic']);
      expect(all(request)).not.toContain(basic()[1]);
    });

    test("is each person's own, even on connections that two people share", async () => {
      const people = [ALICE, JASON, ALICE, JASON, JASON, ALICE];
      await Promise.all(
        people.map((one) =>
          ask(version, `/app/${encodeURIComponent(one.name)}`, { fields: [basic(one)] }),
        ),
      );
      const came = upstream.take();
      expect(came).toHaveLength(people.length);
      for (const request of came) {
        const { name } = decodeJwt(of(request, 'X-Auth-Statement')[0] ?? '');
        expect(`/base/${encodeURIComponent(String(name))}`).toBe(request.target);
        for (const value of of(request, 'X-Auth-Name')) expect(value).toMatch(/^[!-~]*$/);
      }
    });

    test.each([
      'X-Auth-Subject',
      'x-auth-subject',
      'X-AUTH-SUBJECT',
      'X_Auth_Subject',
      'X-Auth_Subject',
      'x_auth_subject',
      'X.Auth.Subject',
      'X-Auth-Name',
      'X-Auth-Scope',
      'X-Auth-Client',
      'X-Auth-Scheme',
      'X-Auth-Anything',
      'X_Auth_Statement',
      'X-Auth-Statement',
    ])('never comes from the client: %s is removed', async (name) => {
      const { status } = await asAlice(version, [[name, SOMEBODY_ELSE]]);
      if (status === 400) return expect(upstream.take()).toEqual([]);
      expect(status).toBe(200);
      expect(all(arrived())).not.toContain(SOMEBODY_ELSE);
      return undefined;
    });

    test.each(['open', 'app'])(
      "a forged or replayed statement, or one in a trailer, is replaced by the caller's own or removed at %s",
      async (space) => {
        await asAlice(version);
        const [real = ''] = of(arrived(), 'X-Auth-Statement');
        const { privateKey } = await generateKeyPair('ES256');
        const forged = await new SignJWT({ name: SOMEBODY_ELSE, scheme: 'Basic' })
          .setProtectedHeader({ alg: 'ES256', typ: 'gateway-identity+jwt' })
          .setIssuer(site.origin)
          .setAudience(NAME)
          .setExpirationTime('1m')
          .sign(privateKey);
        for (const value of [real, forged, '']) {
          const line: Field = ['X-Auth-Statement', value];
          const credentials = space === 'app' ? [basic(JASON)] : [];
          const asked = { method: 'POST', content: 'x', trailers: [line] };
          await ask(version, `/${space}/x`, { ...asked, fields: [...credentials, line] });
          const request = arrived();
          const statements = of(request, 'X-Auth-Statement');
          expect(statements).toHaveLength(space === 'app' ? 1 : 0);
          for (const statement of statements) expect(decodeJwt(statement)['name']).toBe(JASON.name);
          expect(JSON.stringify(request.trailers).toLowerCase()).not.toContain('x-auth');
        }
      },
    );

    test('the application receives no request of a caller that is refused', async () => {
      const wrong = basic({ ...ALICE, password: 'wrong' });
      expect((await ask(version, '/app/x', { fields: [wrong] })).status).toBe(401);
      expect((await ask(version, '/app/x')).status).toBe(401);
      expect(upstream.take()).toEqual([]);
    });
  });

  describe('secrets do not reach the application:', () => {
    test('a password, and configured fields in any spelling', async () => {
      for (const name of [HIDDEN, HIDDEN.toLowerCase(), HIDDEN.replaceAll('-', '_')]) {
        await asAlice(version, [[name, 'hidden secret']]);
        const request = arrived();
        expect(all(request)).not.toContain('hidden secret');
        expect(of(request, 'Authorization')).toEqual([]);
      }
    });

    test.each(['DPoP', 'Proxy-Authorization', 'X-API-Key', 'Concealed-Auth-Export'])(
      '%s beside a password',
      async (name) => {
        const { status } = await asAlice(version, [[name, 'hidden secret']]);
        const came = upstream.take();
        if (name !== 'X-API-Key') expect(status).toBe(200);
        for (const request of came) {
          const passes = name === 'X-API-Key'; // an X-API-Key of another form belongs to the application
          expect(all(request).includes('hidden secret')).toBe(passes);
        }
      },
    );

    test.each(['app', 'open', 'tokens'])('an API key of another space, at %s', async (space) => {
      const fields: Field[] = space === 'app' ? [basic()] : [];
      for (const [query, more] of [
        [`?key=${key}&a=1`, []],
        ['?a=1', [['X-API-Key', key]]],
        ['?a=1', [['x_api_key', key]]],
      ] as [string, Field[]][]) {
        const { status } = await ask(version, `/${space}/x${query}`, {
          fields: [...fields, ...more],
        });
        expect(status).toBe(space === 'tokens' ? 401 : 200);
        for (const request of upstream.take()) {
          expect(all(request)).not.toContain(key);
          expect(request.target).toBe('/base/x?a=1');
        }
      }
    });

    test('an API key in its field, in the query, and between other parameters', async () => {
      for (const [path, fields] of [
        ['/keys/x', [['X-API-Key', key]]],
        [`/keys/x?key=${key}`, []],
        [`/keys/x?a=1&key=${key}&b=%2F`, []],
        [`/keys/x?a=1&%6bey=${key}`, []],
      ] as [string, Field[]][]) {
        const { status } = await ask(version, path, { fields });
        expect([200, 401, 403]).toContain(status);
        for (const request of upstream.take()) {
          expect(all(request)).not.toContain(key);
          expect(request.target).toMatch(/^\/base\/x(\?(a=1|a=1&b=%2F)?)?$/);
        }
      }
    });

    test('a token, unless configured, and a password never', async () => {
      const bearer: Field = ['Authorization', `Bearer ${token}`];
      expect((await ask(version, '/passing/x', { fields: [bearer] })).status).toBe(200);
      expect(of(arrived(), 'Authorization')).toEqual([bearer[1]]);
      expect((await ask(version, '/passing/x', { fields: [basic()] })).status).toBe(200);
      expect(all(arrived())).not.toContain(basic()[1]);
    });

    test('a space without authentication passes Authorization on to the application', async () => {
      const fields = [basic(JASON), ['DPoP', 'a.b.c'] as const];
      expect((await ask(version, '/open/x', { fields })).status).toBe(200);
      const request = arrived();
      expect(of(request, 'Authorization')).toEqual([basic(JASON)[1]]);
      expect(of(request, 'X-Auth-Statement')).toEqual([]);
    });

    test('cookies of the authorization server on the same host', async () => {
      const cookies =
        'a=1; countersign-session=secret-one; countersign-session.sig=secret-two; session=own; b=2';
      await asAlice(version, [['Cookie', cookies]]);
      const request = arrived();
      expect(of(request, 'Cookie').join('; ')).toBe('a=1; session=own; b=2');
      expect(all(request)).not.toMatch(/secret-(?:one|two)/);
    });
  });

  describe('fields for one connection (RFC 9110 section 7.6.1)', () => {
    test.each([
      'Authorization',
      'X-Auth-Statement',
      'X-Auth-Subject',
      'Host',
      'Content-Length',
      'Cookie',
      'X-Forwarded-For',
      'Via',
      'Cache-Control',
    ])("a client's Connection field cannot remove %s", async (name) => {
      const { status } = await asAlice('HTTP/1.1', [['Connection', `close, ${name}`]], {
        method: 'POST',
        content: 'x',
      });
      if (status === 400) return expect(upstream.take()).toEqual([]);
      expect(status).toBe(200);
      const request = arrived();
      for (const own of ['X-Auth-Statement', 'X-Auth-Subject', 'Host', 'Via', 'X-Forwarded-For']) {
        expect([own, of(request, own).length]).toEqual([own, 1]);
      }
      expect(request.read).toBe('x');
      return undefined;
    });

    test('the gateway removes connection fields in both directions', async () => {
      const hops: Field[] = [
        ['Proxy-Connection', 'keep-alive'],
        ['Keep-Alive', 'timeout=5'],
        ['Upgrade', 'h2c'],
        ['HTTP2-Settings', 'AAMAAABk'],
        ['X-Hop', 'secret'],
        ['Connection', 'X-Hop, keep-alive'],
      ];
      await asAlice(version, version === 'HTTP/1.1' ? hops : []);
      const request = arrived();
      expect(all(request)).not.toMatch(/secret|h2c|HTTP2-Settings|Proxy-Connection/i);
      says =
        'HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: secret\r\nKeep-Alive: timeout=5\r\nUpgrade: h2c\r\nProxy-Authenticate: Basic realm="x"\r\nX-Kept: yes\r\nContent-Length: 0\r\n\r\n';
      const answer = await asAlice(version);
      expect(valueOf(answer, 'x-kept')).toBe('yes');
      for (const name of ['x-hop', 'upgrade', 'proxy-authenticate']) {
        expect(valuesOf(answer, name)).toEqual([]);
      }
    });

    test('RFC 9110 section 7.6.3: the gateway adds itself to Via in both directions', async () => {
      says = 'HTTP/1.1 200 OK\r\nVia: 1.0 inner\r\nContent-Length: 0\r\n\r\n';
      const answer = await asAlice(version, [['Via', '1.0 outer']]);
      expect(valuesOf(answer, 'via').join(', ')).toMatch(/^1\.0 inner, 1\.1 \S+$/);
      const via = of(arrived(), 'Via').join(', ');
      expect(via).toMatch(
        version === 'HTTP/2' ? /^1\.0 outer, 2\.0 \S+$/ : /^1\.0 outer, 1\.1 \S+$/,
      );
    });
  });

  describe('fields that name another method, protocol or address', () => {
    test.each([
      'X-HTTP-Method',
      'X-HTTP-Method-Override',
      'X-Method-Override',
      'X_HTTP_Method_Override',
    ])('the gateway removes %s', async (name) => {
      await asAlice(version, [[name, 'DELETE']], { method: 'POST', content: 'x' });
      expect(all(arrived())).not.toContain('DELETE');
    });

    test('a method that the space does not list gets 405 with Allow, and the application gets no request', async () => {
      const answer = await asAlice(version, [], { method: 'DELETE' });
      expect(answer.status).toBe(405);
      expect(valueOf(answer, 'allow')?.split(', ').toSorted()).toEqual(
        expect.arrayContaining(['GET', 'OPTIONS', 'POST']),
      );
      expect(upstream.take()).toEqual([]);
    });

    test('the gateway removes the forwarded addresses that an untrusted client claims', async () => {
      await asAlice(version, [
        ['X-Forwarded-For', '10.9.8.7'],
        ['X-Forwarded-Host', 'evil.example'],
        ['X-Forwarded-Proto', 'https'],
        ['X-Forwarded-Prefix', '/evil'],
        ['X_Forwarded_For', '10.9.8.7'],
        ['Forwarded', 'for=10.9.8.7;host=evil.example'],
        ['X-Real-IP', '10.9.8.7'],
        ['X-Request-Id', 'evil'],
      ]);
      const request = arrived();
      expect(all(request)).not.toMatch(/evil|10\.9\.8\.7/);
      expect(of(request, 'X-Forwarded-For')).toEqual(['127.0.0.1']);
      expect(of(request, 'X-Forwarded-Proto')).toEqual(['http']);
      expect(of(request, 'Forwarded')).toEqual([]);
    });

    test('RFC 9110 section 7.6.2: Max-Forwards is decremented, and with 0 the application gets no request', async () => {
      await asAlice(version, [['Max-Forwards', '3']], { method: 'OPTIONS' });
      expect(of(arrived(), 'Max-Forwards')).toEqual(['2']);
      const { status } = await asAlice(version, [['Max-Forwards', '0']], { method: 'OPTIONS' });
      expect([200, 204]).toContain(status);
      expect(upstream.take()).toEqual([]);
      expect((await asAlice(version, [['Max-Forwards', 'x']], { method: 'OPTIONS' })).status).toBe(
        400,
      );
    });

    test('RFC 5842 section 7.2: a gateway whose upstream is itself answers 508', async () => {
      expect((await ask(version, '/loop/x')).status).toBe(508);
      expect((await ask(version, '/loop/x', { method: 'POST', content: 'x' })).status).toBe(508);
    });

    test('encoded parts of Destination stay encoded', async () => {
      const destination: Field = ['Destination', '/app/x%0d%0aSet-Cookie:%20a=b'];
      const { status } = await asAlice(version, [destination], { method: 'POST', content: 'x' });
      for (const request of upstream.take()) {
        expect(of(request, 'Destination')).toEqual([expect.stringMatching(/\/base\/x%0d%0a\S+$/i)]);
      }
      expect([200, 400]).toContain(status);
      expect(upstream.unreadable).toEqual([]);
    });

    test.each([
      ['/app/x\tHTTP/1.1', [400]],
      ['/app/x#y', [400]],
      ['http://evil.example/app/x', [502]],
      ['//evil.example/app/x', [400, 502]],
      ['/tokens/x', [403]],
      ['/app/../tokens/x', [400, 403]],
      ['/elsewhere', [403]],
    ])('Destination: %s is refused', async (destination, statuses) => {
      const { status } = await asAlice(version, [['Destination', destination]], {
        method: 'POST',
        content: 'x',
      });
      expect(statuses).toContain(status);
      expect(upstream.take()).toEqual([]);
    });
  });

  describe('an answer with an injected line (CWE-113) sets no field or cookie', () => {
    test.each([
      ['a carriage return', 'X: a\rSet-Cookie: stolen=1'],
      ['NUL', 'X: a\0b'],
      ['a folded line', 'X: a\r\n Set-Cookie: stolen=1'],
      ['in Location', `Location: /base/\rX-Split: 1`],
      ['in a cookie', 'Set-Cookie: a=b; Path=/base/\rX-Split: 1'],
    ])('an injected line: %s', async (_, line) => {
      says = `HTTP/1.1 302 Found\r\n${line}\r\nContent-Length: 0\r\n\r\n`;
      const answer = await asAlice(version);
      const fields = answer.fields.map(([name]) => name);
      expect(fields.filter((name) => name === 'x-split')).toEqual([]);
      expect(valuesOf(answer, 'set-cookie').filter((value) => value.startsWith('stolen'))).toEqual(
        [],
      );
      for (const [, value] of answer.fields) expect(value).toMatch(/^[\t -~\x80-\xFF]*$/);
      expect([302, 502]).toContain(answer.status);
    });

    test.each([
      '/base/%0d%0aSet-Cookie:%20stolen=1',
      '/base/\xc4\x8a\xc4\x8d',
      'http://UPSTREAM/base/%0d%0aX-Split:%201',
      '//UPSTREAM/base/\t',
    ])('encoded parts of Location stay encoded: %j', async (reference) => {
      const { host } = new URL(upstream.url);
      says = `HTTP/1.1 302 Found\r\nLocation: ${reference.replace('UPSTREAM', host)}\r\nContent-Length: 0\r\n\r\n`;
      const answer = await asAlice(version);
      expect(answer.status).toBe(302);
      expect(valuesOf(answer, 'location')).toHaveLength(1);
      expect(valueOf(answer, 'location')).toMatch(/^[\t -~\x80-\xFF]*$/);
      expect(valuesOf(answer, 'set-cookie')).toEqual([]);
    });
  });
});

test('after these tests, no logged error is a defect, and the log has no secret', () => {
  const log = site.pair.resources[0]?.log ?? '';
  expect(log.split('\n').filter((one) => one.includes('"level":"error"'))).toEqual([]);
  const secrets = ['hidden secret', key, token, basic()[1], 'secret-one'];
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});

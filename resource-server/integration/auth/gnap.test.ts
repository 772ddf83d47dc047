import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { signedBy, testKey, type TestRequest } from '#shared/gnap/client.fixture.ts';
import { sendSlowly } from '#shared/server/content/slow-content.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../resource-server.fixture.ts';

const SCOPES = { safe: ['photos:read'], unsafe: ['photos:write'] };
const key = testKey();

/** The requests that reached the application behind the gateway. */
const passed: { authorization: string | undefined; content: string }[] = [];
const application = createServer((request, response) => {
  void buffer(request).then((content) => {
    passed.push({
      authorization: request.headers.authorization,
      content: content.toString(),
    });
    response.end('from the application');
  });
});

let rs: TestResourceServer;
beforeAll(async () => {
  await once(application.listen(0, '127.0.0.1'), 'listening');
  const { port } = application.address() as AddressInfo;
  const space = (name: string, more: object = {}) => ({
    url: `${RESOURCE}/${name}/`,
    realm: name,
    schemes: ['GNAP'],
    scopes: SCOPES,
    ...more,
  });
  const upstream = { url: `http://127.0.0.1:${port}/` };
  rs = await startResourceServer({
    gnap: {},
    spaces: [
      space('photos'),
      space('app', { serves: 'upstream', upstream, cache: {} }),
      space('both', { schemes: ['GNAP', 'Bearer'] }),
      space('safe', { authentication: { acr: 'passkey', methods: ['unsafe'] } }),
      { ...space('verified'), url: 'https://app.example/', serves: 'verify' },
    ],
  });
});
afterAll(async () => {
  await rs[Symbol.asyncDispose]();
  application.close();
});

const tokenFor = (aud: string, scope = 'photos:read photos:write', claims: object = {}) =>
  rs.token(scope, { aud, cnf: { jwk: key.byValue.jwk }, access: [scope], ...claims }, GNAP);
const GNAP = { typ: 'gnap-at+jwt' };

/** Sends a signed request. `target`: the address to which it is sent, if not the signed address. */
function send(asked: TestRequest, { body = asked.json, by = key } = {}) {
  const { fields, content } = signedBy(by, asked, rs.now());
  const { pathname, search } = new URL(asked.url);
  const sent = body === asked.json ? content : JSON.stringify(body);
  return rs.ask(asked.method, pathname + search, {
    headers: { Host: new URL(asked.url).host, 'X-Forwarded-Proto': 'https', ...fields },
    ...(sent !== undefined && { body: sent }),
  });
}

describe('RFC 9635 section 7.2: at the resource server', () => {
  test('section 9.1: the GNAP challenge has the format of RFC 9110', async () => {
    const { status, headers } = await rs.ask('GET', '/photos/');
    expect([status, headers['www-authenticate']]).toEqual([
      401,
      `GNAP as_uri="https://as.example/gnap", access="${RESOURCE}/photos/ photos:read", referrer="${RESOURCE}/photos/"`,
    ]);
  });

  test('a GNAP client writes and reads documents', async () => {
    const url = `${RESOURCE}/photos/a.json`;
    const token = tokenFor(`${RESOURCE}/photos/`);
    expect((await send({ method: 'PUT', url, token, json: { a: 1 } })).status).toBe(201);
    expect(await send({ method: 'GET', url, token })).toMatchObject({
      status: 200,
      text: '{"a":1}',
    });
  });

  test('RFC 9470: the challenge for a sign-in that is too weak names the required acr_values, beside the parameters of GNAP', async () => {
    const url = `${RESOURCE}/safe/a.json`;
    const put = (acr: string) => {
      const token = tokenFor(`${RESOURCE}/safe/`, undefined, { sub_gen: 0, acr });
      return send({ method: 'PUT', url, token, json: { a: 1 } });
    };
    const refused = await put('urn:countersign:acr:password');
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      expect.stringMatching(
        /^GNAP as_uri="[^"]+", access="[^"]+", referrer="[^"]+", error="insufficient_user_authentication", acr_values="urn:countersign:acr:passkey"$/,
      ),
    ]);
    expect((await put('urn:countersign:acr:passkey')).status).toBe(201);
  });

  test('section 7.3.1: a request whose content differs from the signed content changes nothing', async () => {
    const url = `${RESOURCE}/photos/b.json`;
    const token = tokenFor(`${RESOURCE}/photos/`);
    const changed = { body: { b: 2 } };
    expect((await send({ method: 'PUT', url, token, json: { b: 1 } }, changed)).status).toBe(401);
    expect((await send({ method: 'GET', url, token })).status).toBe(404);
  });

  test('a GNAP token without the scope gets a 403 that names the access to request', async () => {
    const url = `${RESOURCE}/photos/c.json`;
    const token = tokenFor(`${RESOURCE}/photos/`, 'photos:read');
    const { status, headers } = await send({ method: 'PUT', url, token, json: {} });
    expect(status).toBe(403);
    expect(headers['www-authenticate']).toContain(
      `access="${RESOURCE}/photos/ photos:write photos:read"`,
    );
  });

  test('a GNAP token without a key is accepted as Bearer, if the space lists Bearer', async () => {
    const token = (name: string) =>
      tokenFor(`${RESOURCE}/${name}/`, 'photos:read', { cnf: undefined });
    const bearer = (name: string) => ({ headers: { Authorization: `Bearer ${token(name)}` } });
    expect((await rs.ask('GET', '/both/', bearer('both'))).status).toBe(200);
    expect((await rs.ask('GET', '/photos/', bearer('photos'))).status).toBe(401);
    const asGnap = { method: 'GET', url: `${RESOURCE}/both/`, token: token('both') };
    expect((await send(asGnap)).status).toBe(401);
  });

  test('the gateway passes on the signed content, but no credentials', async () => {
    const url = `${RESOURCE}/app/prints`;
    const token = tokenFor(`${RESOURCE}/app/`);
    passed.length = 0;
    const reply = await send({ method: 'POST', url, token, json: { print: 'a' } });
    expect(reply).toMatchObject({ status: 200, text: 'from the application' });
    const forged = { body: { print: 'b' } };
    expect((await send({ method: 'POST', url, token, json: { print: 'c' } }, forged)).status).toBe(
      401,
    );
    expect(passed).toEqual([{ authorization: undefined, content: '{"print":"a"}' }]);
  });

  test.each(['photos', 'app'])(
    'a GNAP token that is revoked while slow content arrives gives 403 and no change, at %s',
    async (name) => {
      const url = `${RESOURCE}/${name}/`;
      const jti = `slow-${name}`;
      const token = tokenFor(url, undefined, { jti });
      const { fields, content = '' } = signedBy(
        key,
        { method: 'POST', url, token, json: { slow: name } },
        rs.now(),
      );
      passed.length = 0;
      const { status } = await sendSlowly(
        {
          url: `http://127.0.0.1:${rs.listening.port}/${name}/`,
          headers: { Host: 'rs.example', 'X-Forwarded-Proto': 'https', ...fields },
          content: Buffer.from(content),
        },
        async () => {
          rs.clock.advance(2);
          await rs.stores.revocations.revoke('token', jti, rs.clock.now() + 600_000);
        },
      );
      expect([status, passed]).toEqual([403, []]);
    },
  );

  test.each([
    ['GET', 204],
    ['DELETE', 204],
    ['POST', 401],
    ['PUT', 401],
  ])('/verify receives no content, so a GNAP request with %s is %d', async (method, status) => {
    const url = 'https://app.example/reports/1?year=2026';
    const token = tokenFor('https://app.example/');
    const { fields } = signedBy(key, { method, url, token }, rs.now());
    const reply = await rs.ask('GET', '/verify', {
      headers: {
        'X-Forwarded-Method': method,
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'app.example',
        'X-Forwarded-Uri': '/reports/1?year=2026',
        ...fields,
      },
    });
    expect(reply.status).toBe(status);
  });
});

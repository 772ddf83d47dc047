import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { somePerson } from '#shared/stores/contract/samples.ts';
import { rawHttp, statusOf } from '../../../e2e/parts/raw-http.ts';
import { startResourceServer, type TestResourceServer } from '../resource-server.fixture.ts';

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

const FORWARDED = {
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'app.example',
  'X-Forwarded-Uri': '/reports/1?year=2026',
};

const verify = (headers: OutgoingHttpHeaders, at = rs) =>
  at.ask('GET', '/verify', { headers: { ...FORWARDED, ...headers } });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('granted', () => {
  test('a granted /verify is 204 with the identity and without content, and may not be stored', async () => {
    const reply = await verify(bearer(rs.token('app:read app:write')));
    expect(reply).toMatchObject({ status: 204, text: '' });
    expect(reply.headers).toMatchObject({
      'x-auth-subject': 'machine',
      'x-auth-client': 'machine',
      'x-auth-scope': 'app:read app:write',
      'x-auth-scheme': 'Bearer',
      'cache-control': 'no-store',
    });
  });

  test('for a token of a person, /verify names the person as subject and the application as client', async () => {
    const token = rs.token('app:read', { sub: 'alice', sub_gen: 0 });
    const { headers } = await verify(bearer(token));
    expect(headers).toMatchObject({ 'x-auth-subject': 'alice', 'x-auth-client': 'machine' });
  });

  test("for Basic and for a token, /verify names the same subject, with the person's name in another field", async () => {
    await using served = await startResourceServer({
      spaces: [
        {
          url: 'https://app.example/',
          realm: 'app',
          schemes: ['Bearer', 'Basic'],
          scopes: { safe: ['app:read'], unsafe: ['app:write'] },
          grants: { everyone: ['app:read'] },
          serves: 'verify',
        },
      ],
    });
    const password_hash = await hash('open sesame');
    const person = { ...somePerson('älice'), password_hash };
    await served.stores.people.add(person);
    const basic = Buffer.from('älice:open sesame').toString('base64');
    const named = await verify({ Authorization: `Basic ${basic}` }, served);
    expect([named.status, named.headers]).toEqual([
      204,
      expect.objectContaining({
        'x-auth-subject': person.id,
        'x-auth-name': '%C3%A4lice',
        'x-auth-client': '',
        'x-auth-scheme': 'Basic',
      }),
    ]);
    const token = served.token('app:read', { sub: person.id, sub_gen: 0 });
    const { headers } = await verify(bearer(token), served);
    expect(headers).toMatchObject({ 'x-auth-subject': person.id, 'x-auth-name': '' });
    const [first, second] = served.lines.slice(-2).map((line) => JSON.parse(line) as object);
    expect(first).toMatchObject({ subject: person.id, scheme: 'Basic' });
    expect(second).toMatchObject({ subject: person.id, client: 'machine', scheme: 'Bearer' });
    expect(served.lines.join('')).not.toContain('sesame');
    expect(served.lines.join('')).not.toContain(basic);
  });

  test('the log line of /verify has the requested URL without the query, and the admitted caller', async () => {
    await verify({ ...bearer(rs.token('app:read')), 'X-Forwarded-Uri': '/a/b?secret=1#x' });
    expect(JSON.parse(rs.lines.at(-1) ?? '')).toMatchObject({
      askedMethod: 'GET',
      askedHost: 'https://app.example',
      askedPath: '/a/b',
    });
    await verify({ 'X-Forwarded-Method': 'PUT', 'X-Forwarded-Uri': '/a/../b?secret=1' });
    const refused = rs.lines.at(-1) ?? '';
    expect(JSON.parse(refused)).toMatchObject({
      askedMethod: 'PUT',
      askedPath: '/a/../b',
      reason: 'the forwarded URI is ambiguous',
    });
    expect(rs.lines.join('')).not.toContain('secret=');
  });

  test('no value in the answer of /verify can add a field or change another field', async () => {
    const sub = 'al\r\nX-Auth-Scope: all, ü%20\u{1f600}\ud800';
    const reply = await verify(bearer(rs.token('app:read', { sub, sub_gen: 0 })));
    expect(reply.status).toBe(204);
    const given = String(reply.headers['x-auth-subject']);
    expect(given).toMatch(/^[!-~]+$/);
    expect(decodeURIComponent(given)).toBe(sub.toWellFormed());
    expect(reply.headers['x-auth-scope']).toBe('app:read');
  });

  test('identity fields of the client are ignored, and the answer of /verify has all of them, even empty ones', async () => {
    const spoofed = {
      'X-Auth-Subject': 'root',
      'X-Auth-Client': 'root',
      'X-Auth-Scope': 'all',
      'X-Auth-Scheme': 'None',
    };
    const { headers } = await verify({ ...bearer(rs.token('app:read')), ...spoofed });
    expect(headers).toMatchObject({
      'x-auth-subject': 'machine',
      'x-auth-client': 'machine',
      'x-auth-scope': 'app:read',
      'x-auth-scheme': 'Bearer',
    });
    await using open = await startResourceServer({
      spaces: [
        { url: 'https://app.example/', realm: 'app', schemes: ['Bearer'], serves: 'verify' },
      ],
    });
    const bare = open.token('app:read', { scope: undefined });
    expect((await verify(bearer(bare), open)).headers).toHaveProperty('x-auth-scope', '');
  });

  test('RFC 9449: /verify checks the DPoP proof against the forwarded method and URL', async () => {
    const client = prover(rs.now);
    const token = rs.token('app:write', { cnf: { jkt: client.jkt } });
    const send = (claims: object, headers = {}) =>
      verify({
        'X-Forwarded-Method': 'PUT',
        Authorization: `DPoP ${token}`,
        DPoP: client.proof(token, claims),
        ...headers,
      });
    const right = { htm: 'PUT', htu: 'https://app.example/reports/1' };
    expect(await send(right)).toMatchObject({ status: 204, headers: { 'x-auth-scheme': 'DPoP' } });
    expect((await send({ ...right, htm: 'GET' })).status).toBe(401);
    expect((await send({ ...right, htu: 'https://rs.example/verify' })).status).toBe(401);
    expect((await send({ ...right, htu: 'https://rs.example/reports/1' })).status).toBe(401);
    expect((await send(right, { 'X-Forwarded-Uri': '/reports/2' })).status).toBe(401);
  });

  test('/verify compares origins in their normal form', async () => {
    const token = rs.token('app:read');
    for (const host of ['APP.example', 'app.example:443']) {
      expect((await verify({ ...bearer(token), 'X-Forwarded-Host': host })).status).toBe(204);
    }
  });
});

describe('refused', () => {
  test('/verify without credentials is 401 with the challenges of the space of the URL', async () => {
    const reply = await verify({});
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toMatch(/^Bearer realm="app".*, DPoP realm="app"/);
    expect(reply.raw.filter((name) => name === 'WWW-Authenticate')).toHaveLength(1);
    expect(reply.headers['x-auth-subject']).toBeUndefined();
    const documents = await verify({
      'X-Forwarded-Host': 'rs.example',
      'X-Forwarded-Uri': '/documents/a',
    });
    expect(documents.headers['www-authenticate']).toContain('realm="documents"');
  });

  test('/verify refuses a token of another space', async () => {
    const reply = await verify(bearer(rs.token('documents:read', { scope: 'app:read' })));
    expect(reply.status).toBe(401);
  });

  test('/verify with a token without the scope of the forwarded method is 403 with the challenge', async () => {
    const reply = await verify({
      ...bearer(rs.token('app:read')),
      'X-Forwarded-Method': 'DELETE',
    });
    expect(reply.status).toBe(403);
    expect(reply.headers['www-authenticate']).toContain('scope="app:write app:read"');
    const odd = { ...bearer(rs.token('app:read')), 'X-Forwarded-Method': 'FROBNICATE' };
    expect((await verify(odd)).status).toBe(403);
  });

  test('since nginx knows only 401 and 403, /verify answers malformed credentials with 401 and hidden spaces with 403', async () => {
    expect((await verify({ Authorization: 'Bearer a b' })).status).toBe(401);
    const hidden = await verify({
      ...bearer(rs.token('hidden:write')),
      'X-Forwarded-Host': 'rs.example',
      'X-Forwarded-Uri': '/hidden/a',
    });
    expect(hidden.status).toBe(403);
    expect(hidden.headers['www-authenticate']).toBeUndefined();
  });

  test('/verify from a peer that is not trusted is 403, and the log gives the reason', async () => {
    await using direct = await startResourceServer({ trustedProxies: ['10.0.0.0/8'] });
    const reply = await verify(bearer(direct.token('app:read')), direct);
    expect(reply.status).toBe(403);
    expect(reply.text).not.toContain('trustedProxies');
    expect(direct.lines.at(-1)).toContain('is not in trustedProxies');
  });

  test.each(Object.keys(FORWARDED))('/verify without %s, or with two, is 403', async (name) => {
    const token = bearer(rs.token('app:read'));
    const { [name as keyof typeof FORWARDED]: value, ...others } = FORWARDED;
    const missing = await rs.ask('GET', '/verify', { headers: { ...others, ...token } });
    expect(missing.status).toBe(403);
    const twice = { ...others, ...token, [name]: [value, value] };
    expect((await rs.ask('GET', '/verify', { headers: twice })).status).toBe(403);
  });

  test.each([
    ['X-Forwarded-Proto', 'https, http', 403],
    ['X-Forwarded-Proto', 'ftp', 403],
    ['X-Forwarded-Proto', 'ws', 403],
    ['X-Forwarded-Proto', 'wss', 204],
    ['X-Forwarded-Host', 'app.example, evil.example', 403],
    ['X-Forwarded-Host', 'app.example/x', 403],
    ['X-Forwarded-Host', 'user@app.example', 403],
    ['X-Forwarded-Host', 'evil.example', 403],
    ['X-Forwarded-Proto', 'http', 403],
    ['X-Forwarded-Uri', 'https://app.example/', 403],
    ['X-Forwarded-Uri', '*', 403],
    ['X-Forwarded-Uri', '/a/../b', 403],
    ['X-Forwarded-Uri', '/a/%2e%2e/b', 403],
    ['X-Forwarded-Uri', '/a%2Fb', 403],
    ['X-Forwarded-Uri', '//b', 403],
    ['X-Forwarded-Uri', '/a//b', 403],
    ['X-Forwarded-Uri', '/a%0D', 403],
    ['X-Forwarded-Uri', 'reports', 403],
  ])('/verify with %s: %s is %d', async (name, value, status) => {
    const reply = await verify({ ...bearer(rs.token('app:read')), [name]: value });
    expect(reply.status).toBe(status);
    expect(reply.headers['x-auth-subject'] !== undefined).toBe(status === 204);
  });

  describe('nginx answers 500 for any 4xx except 401 and 403, so /verify answers malformed requests with 403', () => {
    const mistakes: readonly (readonly [
      title: string,
      query: string,
      line: string,
      other: number,
    ])[] = [
      ['a name that is taken for another', '', 'Content--Length: 5', 400],
      ['too many fields', '', Array.from({ length: 250 }, () => 'X: x').join('\r\n'), 431],
      ['a header section that is too long', '', `X: ${'x'.repeat(90_000)}`, 431],
      ['a target that is too long', `?${'x'.repeat(20_000)}`, 'X: x', 414],
      ['a control character', '', 'X: a\u0001b', 400],
      ['no Host', '', 'Host: ', 400],
      ['an expectation', '', 'Expect: x', 417],
      ['a field that is malformed', '', 'Max-Forwards: many', 400],
      ['too much content', '', 'Content-Length: 100000000', 413],
    ];
    const status = async (path: string, line: string) => {
      const host = line.startsWith('Host') ? [] : ['Host: rs.example'];
      const head = [`GET ${path} HTTP/1.1`, ...host, 'Connection: close', line];
      const origin = `http://127.0.0.1:${rs.listening.port}`;
      return statusOf(await rawHttp(origin, `${head.join('\r\n')}\r\n\r\n`));
    };

    test.each(mistakes)('a malformed /verify is 403: %s', async (_title, query, line, other) => {
      expect(await status(`/verify${query}`, line)).toBe(403);
      expect(await status(`/verify/browser${query}`, line)).toBe(other);
    });

    test('a request to /verify by another method is 405', async () => {
      expect((await rs.ask('POST', '/verify')).status).toBe(405);
    });
  });

  test('a space that is only for proxies does not exist for direct requests', async () => {
    const reply = await rs.ask('GET', '/reports/1', {
      headers: { ...bearer(rs.token('app:read')), ...FORWARDED, Host: 'app.example' },
    });
    expect(reply.status).toBe(404);
  });
});

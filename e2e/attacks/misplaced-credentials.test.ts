import { createHash, createHmac, generateKeyPairSync, KeyObject, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { base64url, signJws } from '#shared/jose/jws.fixture.ts';
import { startElsewhere } from './elsewhere.ts';
import type { Elsewhere } from './elsewhere.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { addKeyClient } from '../interop/oauth/key-client.ts';
import type { KeyClient } from '../interop/oauth/key-client.ts';
import { rawHttp, statusOf } from '../parts/raw-http.ts';

/** Credentials in the wrong place, of the wrong client or of no client, and their answers. */
type Members = Readonly<Record<string, unknown>>;

const now = Math.floor(Date.now() / 1000);
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreignJwk = () => foreign.publicKey.export({ format: 'jwk' });

const parts = new AsyncDisposableStack();
let pair: Pair;
let machine: { id: string; secret: string };
let genuine: string;
let elsewhere: Elsewhere;

beforeAll(async () => {
  pair = parts.use(await startPair({ settings: { trustedProxies: ['127.0.0.1/32'] } }));
  machine = await pair.addClient();
  genuine = await pair.token(machine);
  elsewhere = parts.use(await startElsewhere(foreignJwk));
});
afterAll(() => parts.disposeAsync());

describe('a token must be in the Authorization field only (RFC 6750 sections 2 and 3.1)', () => {
  const status = async (path: string, init: RequestInit = {}) =>
    (await fetch(pair.documents + path, init)).status;
  const authorization = () => ({ authorization: `Bearer ${genuine}` });

  test('a token in the query, the body, a cookie, or twice is refused', async () => {
    const query = `?access_token=${genuine}`;
    expect(await status(query)).toBe(401);
    expect(await status(query, { headers: authorization() })).toBe(400);
    const body = new URLSearchParams({ access_token: genuine });
    expect(await status('', { method: 'POST', body })).toBe(401);
    const twice = `Bearer ${genuine}, Bearer ${genuine}`;
    expect(await status('', { headers: { authorization: twice } })).toBe(400);
    expect(await status('', { headers: { cookie: `access_token=${genuine}` } })).toBe(401);
  });

  test.each([
    ['two Authorization lines', ['Host: a', 'Authorization: Bearer T', 'Authorization: Bearer T']],
    ['a good and a bad one', ['Host: a', 'Authorization: Bearer T', 'Authorization: Basic x']],
    ['two Host lines', ['Host: a', 'Host: a', 'Authorization: Bearer T']],
    ['no Host', ['Authorization: Bearer T']],
    ['an invalid Host', ['Host: a b', 'Authorization: Bearer T']],
    [
      'a field that CGI reads as Authorization',
      ['Host: a', 'Proxy_Authorization: x', 'Authorization: Bearer T'],
    ],
    ['obsolete line folding', ['Host: a', 'Authorization: Bearer', ' T']],
    ['a blank before the colon', ['Host: a', 'Authorization : Bearer T']],
  ])('%s: 400 at both servers, and 403 to a proxy that asks /verify', async (_, lines) => {
    const fields = [...lines, 'Connection: close'].join('\r\n').replaceAll(' T', ` ${genuine}`);
    for (const [origin, path, refusal] of [
      [pair.resource, '/documents/', 400],
      [pair.resource, '/verify', 403],
      [pair.issuer, '/jwks', 400],
    ] as const) {
      const request = `GET ${path} HTTP/1.1\r\n${fields}\r\n\r\n`;
      expect([path, statusOf(await rawHttp(origin, request))]).toEqual([path, refusal]);
    }
  });
});

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const GRANT = { grant_type: 'client_credentials' };

type Form = Readonly<Record<string, string>>;

async function post(form: Form | string, fields: Form = {}, path = '/token') {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
  const response = await fetch(pair.issuer + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...fields },
    body,
  });
  const answer = JSON.parse(await response.text()) as Record<string, unknown>;
  return { status: response.status, error: answer['error'], headers: response.headers };
}
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${btoa(`${id}:${secret}`)}`,
});

describe('client authentication (RFC 6749 sections 2.3 and 5.2)', () => {
  test.each<[string, () => [Form | string, Form?]]>([
    ['nobody', () => [GRANT]],
    ['a wrong secret', () => [GRANT, basic(machine.id, 'guess')]],
    ['the hash of the secret', () => [GRANT, basic(machine.id, hashed(machine.secret))]],
    ['the secret and more', () => [GRANT, basic(machine.id, `${machine.secret}x`)]],
    ['half the secret', () => [GRANT, basic(machine.id, machine.secret.slice(0, 20))]],
    ['an unknown client', () => [GRANT, basic('nobody', machine.secret)]],
    ['a client of Object.prototype', () => [GRANT, basic('__proto__', 'x')]],
    ['a wrong secret in the body', () => [{ ...GRANT, client_id: machine.id, client_secret: 'x' }]],
    ['no secret at all', () => [{ ...GRANT, client_id: machine.id }]],
  ])('%s: 401 invalid_client with a challenge', async (_, request) => {
    const { status, error, headers } = await post(...request());
    expect([status, error]).toEqual([401, 'invalid_client']);
    expect(headers.get('www-authenticate')).toMatch(/^Basic realm="/);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each<[string, () => [Form | string, Form?]]>([
    ['two clients', () => [{ ...GRANT, client_id: 'other' }, basic(machine.id, machine.secret)]],
    [
      'two ways at once (RFC 6749 section 2.3)',
      () => [{ ...GRANT, client_secret: machine.secret }, basic(machine.id, machine.secret)],
    ],
    ['Basic without a colon', () => [GRANT, { authorization: `Basic ${btoa('abc')}` }]],
    ['Basic that is no base64', () => [GRANT, { authorization: 'Basic !!!' }]],
    ['Bearer', () => [GRANT, { authorization: `Bearer ${genuine}` }]],
    ['a broken escape', () => [GRANT, basic('%', '%zz')]],
    [
      'a parameter twice (RFC 6749 section 3.2)',
      () => ['grant_type=client_credentials&grant_type=x', basic(machine.id, machine.secret)],
    ],
    ['an invalid grant', () => [{ grant_type: 'password' }, basic(machine.id, machine.secret)]],
    ['no grant', () => [{}, basic(machine.id, machine.secret)]],
    [
      'JSON',
      () => [
        JSON.stringify(GRANT),
        { ...basic(machine.id, machine.secret), 'content-type': 'application/json' },
      ],
    ],
  ])('%s: 400', async (_, request) => {
    const { status, error } = await post(...request());
    expect(status).toBe(400);
    expect(error).toEqual(expect.any(String));
  });

  const hashed = (secret: string) => createHash('sha256').update(secret).digest('base64url');
});

describe('client assertions (RFC 7523 section 3)', () => {
  let client: KeyClient;
  beforeAll(async () => {
    client = await addKeyClient(pair);
  });

  const claims = (): Members => ({
    iss: client.id,
    sub: client.id,
    aud: pair.issuer,
    jti: randomUUID(),
    iat: now,
    exp: now + 60,
  });
  const key = () => KeyObject.from(client.privateKey);
  const signed = (other: Members = {}, header: Members = {}) =>
    signJws({ alg: 'ES256', ...header }, { ...claims(), ...other }, key());
  const present = (client_assertion: string, more: Form = {}) =>
    post({ ...GRANT, client_assertion_type: ASSERTION, client_assertion, ...more });

  test('a valid assertion is accepted once', async () => {
    const assertion = signed();
    expect((await present(assertion)).status).toBe(200);
    expect(await present(assertion)).toMatchObject({ status: 401, error: 'invalid_client' });
  });

  test.each<[string, () => string]>([
    ['for somebody else', () => signed({ aud: 'https://elsewhere.example' })],
    ['for nobody', () => signed({ aud: undefined })],
    ['expired', () => signed({ iat: now - 600, exp: now - 60 })],
    ['without an end', () => signed({ exp: undefined })],
    ['that outlives our memory', () => signed({ exp: now + 86_400 })],
    ['without jti', () => signed({ jti: undefined })],
    ['by another issuer', () => signed({ iss: machine.id })],
    ['not yet valid', () => signed({ nbf: now + 300 })],
    ['with crit', () => signed({}, { crit: ['x'], x: 1 })],
    [
      'with its key in jwk',
      () => signJws({ alg: 'ES256', jwk: foreignJwk() }, claims(), foreign.privateKey),
    ],
    [
      'with its key at jku',
      () => signJws({ alg: 'ES256', jku: elsewhere.url }, claims(), foreign.privateKey),
    ],
    ['of another key', () => signJws({ alg: 'ES256' }, claims(), foreign.privateKey)],
    ['without signature', () => `${base64url({ alg: 'none' })}.${base64url(claims())}.`],
    ['in the name of a client with a secret', () => signed({ iss: machine.id, sub: machine.id })],
    [
      'signed with the secret of a client (HS256)',
      () => {
        const head = [{ alg: 'HS256' }, { ...claims(), iss: machine.id, sub: machine.id }];
        const input = head.map((part) => base64url(part)).join('.');
        const mac = createHmac('sha256', machine.secret).update(input).digest('base64url');
        return `${input}.${mac}`;
      },
    ],
    ['that is an access token', () => genuine],
  ])('an assertion %s gets 401', async (_, assertion) => {
    const refused = await present(assertion());
    expect([refused.status, refused.error]).toEqual([401, 'invalid_client']);
    expect(refused.headers.get('www-authenticate')).not.toBeNull();
  });

  test.each([
    '',
    'x',
    'a.b',
    'a.b.c',
    '..',
    `${base64url({})}.${base64url([])}.x`,
    '\0',
    'é'.repeat(99),
  ])('an assertion that is no JWT is refused: %j', async (assertion) => {
    const { status } = await present(assertion);
    expect([400, 401]).toContain(status);
  });

  test('no server fetched a URL that a forged assertion names', () =>
    expect(elsewhere.fetched).toBe(0));
});

describe("a client and another client's token", () => {
  test('the token of another client is not introspected and not revoked (RFC 7009 section 2.1, RFC 7662 section 4)', async () => {
    const other = await pair.addClient();
    expect(await pair.post('/token/introspection', { token: genuine }, other)).toMatchObject({
      status: 200,
      body: { active: false },
    });
    expect(await pair.post('/token/revocation', { token: genuine }, other)).toMatchObject({
      status: 400,
      body: { error: 'unauthorized_client' },
    });
    expect(await pair.get(genuine)).toBe(200);
  });

  test.each(['/token/introspection', '/token/revocation'])(
    '%s without a valid client gets 401',
    async (path) => {
      for (const fields of [{}, basic(machine.id, 'x')]) {
        const { status, error } = await post({ token: genuine }, fields, path);
        expect([status, error]).toEqual([401, 'invalid_client']);
      }
      const missing = await post({}, basic(machine.id, machine.secret), path);
      expect([missing.status, missing.error]).toEqual([400, 'invalid_request']);
    },
  );
});

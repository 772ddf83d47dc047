import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import type { LogFields } from '#shared/base/log-fields.ts';
import { silentLog } from '#shared/base/log.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { systemClock } from '#shared/base/clock.ts';
import { endCompromisedKey, privateJwk } from '#shared/keys/signing-key-lifecycle.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createPrivateKey } from 'node:crypto';
import { storedId } from '../../engine/storage/stored-id.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import {
  APP,
  asApp,
  basic,
  DOCUMENTS,
  SECRET,
  signer as assertionClient,
  testAuthz,
} from '../authz.fixture.ts';
import type { Answered, TestAuthz } from '../authz.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

let authz: TestAuthz;
const logged: LogFields[] = [];

beforeAll(async () => {
  const info = (_event: string, fields: LogFields = {}) => void logged.push(fields);
  authz = await testAuthz({}, systemClock, { ...silentLog, info });
  await authz.stores.clients.add({ ...APP, client_id: 'other' });
  const server = { ...APP, grant_types: [], scope: '' };
  const several = ['https://nobody.example/', DOCUMENTS];
  await authz.stores.clients.add({ ...server, client_id: 'api', introspects: several });
});
afterAll(async () => {
  await authz[Symbol.asyncDispose]();
});

const asOther = basic('other', SECRET);

async function newToken(scope = 'documents:read'): Promise<string> {
  const { body } = await authz.post('/token', { grant_type: 'client_credentials', scope }, asApp);
  return String(body['access_token']);
}
const introspect = (token: string, fields: Record<string, string>) =>
  authz.post('/token/introspection', { token }, fields);
const revoke = (token: string, fields: Record<string, string>) =>
  authz.post('/token/revocation', { token }, fields);

const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns the token with other header members or claims, signed by `signer`. */
async function forged(
  header: object,
  claims: object,
  signer: (input: string) => Buffer | Promise<Buffer>,
  token?: string,
) {
  token ??= await newToken();
  const input = `${b64({ ...decodeProtectedHeader(token), ...header })}.${b64({ ...decodeJwt(token), ...claims })}`;
  return `${input}.${(await signer(input)).toString('base64url')}`;
}

async function ownKey(input: string): Promise<Buffer> {
  const stored = (await authz.stores.keys.list()).find(({ alg }) => alg === 'ES256');
  if (stored === undefined) throw new Error('no key');
  const jwk = { ...privateJwk({ ...authz, table: 'keys' }, stored) };
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  return sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
}

describe('RFC 7662: introspection of JWTs', () => {
  test('RFC 9449 section 6.2: a token that is bound to a key is of type DPoP and names the key', async () => {
    const cnf = { jkt: 'a'.repeat(43) };
    const { body } = await introspect(await forged({}, { cnf }, ownKey), asApp);
    expect(body).toMatchObject({ active: true, token_type: 'DPoP', cnf });
  });

  test('section 2.2: the client of a token gets its claims', async () => {
    const token = await newToken();
    const { status, body } = await introspect(token, asApp);
    const { iat, exp, jti } = decodeJwt(token);
    expect(status).toBe(200);
    expect(body).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: authz.config.issuer,
      aud: DOCUMENTS,
      sub: 'app',
      client_id: 'app',
      scope: 'documents:read',
      iat,
      exp,
      jti,
    });
  });

  test('section 4: a resource server gets information only about tokens for its own audiences', async () => {
    const asServer = basic('api', SECRET);
    expect((await introspect(await newToken(), asServer)).body['active']).toBe(true);
    expect((await introspect(await newToken('rsa'), asServer)).body).toEqual({ active: false });
  });

  test('section 2.2: for another client the token is not active', async () => {
    expect((await introspect(await newToken(), asOther)).body).toEqual({ active: false });
  });

  test('section 2.1: a client that does not authenticate gets no information', async () => {
    const token = await newToken();
    for (const fields of [{}, basic('app', 'wrong')]) {
      for (const ask of [introspect, revoke]) {
        const { status, body, headers } = await ask(token, fields);
        expect([status, body['error']]).toEqual([401, 'invalid_client']);
        expect(headers.get('www-authenticate')).toMatch(/^Basic /);
      }
    }
  });

  test('without a token the request is refused', async () => {
    const { status, body } = await authz.post('/token/introspection', {}, asApp);
    expect([status, body['error']]).toEqual([400, 'invalid_request']);
  });
});

describe('RFC 7009: revocation of JWTs', () => {
  test('section 2: the client of a token can revoke it, and only it ends', async () => {
    const [ended, kept] = [await newToken(), await newToken()];
    expect((await revoke(ended, asApp)).status).toBe(200);
    expect((await introspect(ended, asApp)).body).toEqual({ active: false });
    expect((await introspect(kept, asApp)).body['active']).toBe(true);
    expect((await revoke(ended, asApp)).status).toBe(200);
  });

  test('section 2.2: the answer can be parsed as JSON, for an access token and for a refresh token', async () => {
    const refresh = { kind: 'RefreshToken', clientId: 'app', jti: 'x' };
    const id = storedId('RefreshToken', 'x');
    await authz.stores.artefacts.put({ kind: 'RefreshToken', id, payload: refresh, seconds: 60 });
    for (const token of [await newToken(), 'x', 'nonsense']) {
      const { status, headers, body } = await revoke(token, asApp);
      expect([status, headers.get('content-type'), body]).toEqual([
        200,
        'application/json; charset=utf-8',
        {},
      ]);
    }
    expect(await authz.stores.artefacts.get('RefreshToken', id)).toBeUndefined();
  });

  test('section 2.2.1: one account can revoke a limited number of tokens, since every server remembers each for days', async () => {
    await using few = await testAuthz({ limits: { visits: { burst: 2, per: 3600 } } });
    const told: unknown[] = [];
    const form = { grant_type: 'client_credentials' };
    const tokens: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { body } = await few.post('/token', form, asApp);
      tokens.push(String(body['access_token']));
    }
    const [first = '', second = '', third = ''] = tokens;
    for (const token of [first, first, second, third]) {
      const { status, headers } = await few.post('/token/revocation', { token }, asApp);
      told.push([status, headers.has('retry-after')]);
    }
    expect(told).toEqual([
      [200, false],
      [200, false], // the token is already revoked
      [200, false],
      [429, true],
    ]);
    const { body } = await few.post('/token/introspection', { token: third }, asApp);
    expect(body['active']).toBe(true);
  });

  test('a repeated request is answered no earlier than the first one, since a follower may still trust the token', async () => {
    await using own = await testAuthz();
    const { followers, revocations } = own.stores;
    const epoch = (await revocations.epoch(false)) ?? '';
    const { last } = await followers.look();
    const follower = { id: 'a process', confirmed: last, lease: 600_000, beat: 1 };
    await followers.put(follower, epoch);
    const issued = await own.post('/token', { grant_type: 'client_credentials' }, asApp);
    const form = { token: String(issued.body['access_token']) };
    let answered = 0;
    const ask = async () => {
      const { status } = await own.post('/token/revocation', form, asApp);
      answered += 1;
      return status;
    };
    const isActive = async () =>
      (await own.post('/token/introspection', form, asApp)).body['active'];
    const asked = [ask()];
    await eventually(async () => expect(await isActive()).toBe(false));
    asked.push(ask());
    for (let n = 0; n < 5; n += 1) await isActive();
    expect(answered).toBe(0);
    await followers.put({ ...follower, confirmed: last + 1, beat: 2 }, epoch);
    expect(await Promise.all(asked)).toEqual([200, 200]);
  });

  test('a client can revoke with a secret or an assertion even if its limit cannot be read', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    await using full = await testAuthz();
    await full.stores.clients.add(await assertionClient(publicKey));
    const form = { grant_type: 'client_credentials' };
    const assertion = async () => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer('signer')
        .setSubject('signer')
        .setAudience(full.config.issuer)
        .setExpirationTime('1 minute')
        .sign(privateKey),
    });
    const ours = await full.post('/token', form, asApp);
    const signed = await full.post('/token', { ...form, ...(await assertion()) });
    const silent = () => Promise.reject(new StoreUnavailable('Redis takes no writes'));
    Object.assign(full.stores.limits, { spend: silent });
    const of = ({ body }: Answered) => ({ token: String(body['access_token']) });
    expect((await full.post('/token', form, asApp)).status).toBe(503);
    expect((await full.post('/token/revocation', of(ours), asApp)).status).toBe(200);
    const bySigner = await full.post('/token/revocation', {
      ...of(signed),
      ...(await assertion()),
    });
    expect(bySigner.status).toBe(200);
    for (const token of [ours, signed]) {
      const { body } = await full.post('/token/introspection', of(token), asApp);
      expect(body).toEqual({ active: false });
    }
  });

  test('section 2.1: a revocation by another client is refused, and the token stays valid', async () => {
    const token = await newToken();
    const { status, body } = await revoke(token, asOther);
    expect([status, body['error']]).toEqual([400, 'unauthorized_client']);
    expect((await introspect(token, asApp)).body['active']).toBe(true);
  });

  test('section 2.2: a revocation of an invalid token gets 200', async () => {
    expect((await revoke('nonsense', asApp)).status).toBe(200);
    expect((await revoke('a.b.c', asApp)).status).toBe(200);
  });

  test('a token whose key another process has just made is revoked like any other', async () => {
    const before = await newToken();
    await endCompromisedKey(
      {
        ...authz,
        clock: systemClock,
        random: systemRandom,
        overlap: 360,
        table: 'keys',
        longestLife: 605,
      },
      decodeProtectedHeader(before).kid ?? '',
    );
    const fresh = (await authz.stores.keys.list()).find(({ alg }) => alg === 'ES256');
    const token = await forged({ kid: fresh?.kid }, { jti: randomUUID() }, ownKey, before);
    expect((await revoke(token, asApp)).status).toBe(200);
    expect((await introspect(token, asApp)).body).toEqual({ active: false });
  });

  test('the end of a generation revokes earlier tokens and no later ones, even within one second', async () => {
    const before = await newToken();
    await authz.stores.revocations.raise('client', 'app', Date.now() + 3_600_000);
    const after = await newToken();
    expect((await introspect(before, asApp)).body).toEqual({ active: false });
    expect((await introspect(after, asApp)).body['active']).toBe(true);
    expect(decodeJwt(after)['client_gen']).toBe(1);
  });
});

test('the log says why a token is not active or not revoked, and gives no reason if it is', async () => {
  const token = await newToken();
  const begin = logged.length;
  await revoke(token, asOther);
  await introspect(token, asApp);
  await revoke(token, asApp);
  await introspect(token, asApp);
  const reasons = () => logged.slice(begin).map(({ reason }) => reason);
  await eventually(() => expect(reasons()).toHaveLength(4));
  expect(reasons()).toEqual([
    'unauthorized_client: the token was issued to another client',
    undefined,
    undefined,
    expect.stringMatching(/^revoked by /),
  ]);
});

describe('a token that was tampered with is not active', () => {
  async function hmacWithPublicKey(input: string): Promise<Buffer> {
    const jwks = await (await fetched(`${authz.url}/jwks`)).text();
    return createHmac('sha256', jwks).update(input).digest();
  }

  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const strangersKey = (input: string) =>
    sign('sha256', Buffer.from(input), { key: stranger, dsaEncoding: 'ieee-p1363' });

  test("the test's helper forges well: its unchanged tokens are active", async () => {
    expect(
      (await introspect(await forged({}, { jti: randomUUID() }, ownKey), asApp)).body['active'],
    ).toBe(true);
  });

  test.each<[string, object, object, (input: string) => Buffer | Promise<Buffer>]>([
    ['another signature', {}, {}, strangersKey],
    ['alg none', { alg: 'none' }, {}, () => Buffer.alloc(0)],
    ['HS256 with the public key', { alg: 'HS256' }, {}, hmacWithPublicKey],
    ['an ID token', { typ: 'JWT' }, {}, ownKey],
    ['another issuer', {}, { iss: 'https://evil.example' }, ownKey],
    ['another audience', {}, { aud: 'https://evil.example/' }, ownKey],
    ['expired', {}, { exp: Math.floor(Date.now() / 1000) - 3600 }, ownKey],
    ['an unknown kid', { kid: 'x' }, {}, ownKey],
    ['a key in the header', { jwk: { kty: 'EC' } }, {}, ownKey],
    ['an unknown crit', { crit: ['x'], x: 1 }, {}, ownKey],
    ['another epoch', {}, { epoch: 'x' }, ownKey],
  ])('a forged token is not active: %s', async (_what, header, claims, signer) => {
    const token = await forged(header, claims, signer);
    expect((await introspect(token, asApp)).body).toEqual({ active: false });
    expect((await revoke(token, asApp)).status).toBe(200);
  });
});

test('without its store an OAuth endpoint answers with 503 and the time to wait (RFC 6749 section 5.2, RFC 9110 section 10.2.3)', async () => {
  await using broken = await testAuthz();
  await rm(join(broken.config.data, 'state.db'));
  const form = { grant_type: 'client_credentials', token: 'x' };
  for (const path of [
    '/token',
    '/token/introspection',
    '/token/revocation',
    '/request',
    '/device/auth',
  ]) {
    const answer = await broken.post(path, form, asApp);
    expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '1']);
    expect([path, answer.body['error']]).toEqual([path, 'temporarily_unavailable']);
    expect(JSON.stringify(answer.body)).not.toContain('state.db');
  }
});

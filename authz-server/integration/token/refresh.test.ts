import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { findAccess } from '#shared/people/access/grants.ts';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import type { Clock } from '#shared/base/clock.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { storedId } from '../../engine/storage/stored-id.ts';
import { basic, DOCUMENTS, SECRET } from '../authz.fixture.ts';
import type { Answered } from '../authz.fixture.ts';
import { testFlow } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';

const refused = ({ status, body }: Answered) => [status, body['error']];
const INVALID_GRANT = [400, 'invalid_grant'];
/** The default of `tokens.refreshGrace`. */
const GRACE = 10;
const REMAINS = [
  'accountId',
  'clientId',
  'consumed',
  'exp',
  'grantId',
  'iat',
  'jti',
  'kind',
  'scope',
];

const tokenOf = ({ body }: Pick<Answered, 'body'>) => String(body['refresh_token']);

async function newToken(flow: TestFlow, parameters?: Record<string, string>): Promise<string> {
  return tokenOf({ body: await flow.tokens(parameters) });
}

/** Returns whether the grant of the access token is still valid. */
async function stands(flow: TestFlow, body: Record<string, unknown>, clock: Clock = systemClock) {
  const { grant_id } = decodeJwt(String(body['access_token']));
  const store = { stores: flow.stores, clock, longestLife: 605 };
  return (await findAccess(store, String(grant_id))) !== undefined;
}

describe('RFC 6749 section 6: refresh tokens', () => {
  let flow: TestFlow;
  beforeAll(async () => {
    flow = await testFlow({ tokens: { refreshGrace: 0 } });
  });
  afterAll(async () => {
    await flow[Symbol.asyncDispose]();
  });

  test('each use gives a new refresh token with the same scopes and the same time of sign-in', async () => {
    const first = await flow.tokens({ scope: 'openid documents:read documents:write' });
    const second = await flow.refresh(tokenOf({ body: first }));
    expect(second.status).toBe(200);
    expect(second.headers.get('cache-control')).toBe('no-store');
    expect(tokenOf(second)).not.toBe(tokenOf({ body: first }));
    expect(second.body['scope']).toBe('openid documents:read documents:write');
    const [before, after] = [first, second.body].map((body) =>
      decodeJwt(String(body['access_token'])),
    );
    for (const claim of ['sub', 'grant_id', 'sub_gen', 'acr', 'auth_time', 'scope', 'aud']) {
      expect(after?.[claim]).toEqual(before?.[claim]);
    }
    expect(after?.jti).not.toBe(before?.jti);
    expect((await flow.refresh(tokenOf(second))).status).toBe(200);
  });

  test('a client may ask for fewer scopes, for this access token only; a client that asks for more is refused', async () => {
    const { body } = await flow.refresh(
      await newToken(flow, { scope: 'documents:read documents:write' }),
      { scope: 'documents:read' },
    );
    expect(body['scope']).toBe('documents:read');
    const wide = await flow.refresh(tokenOf({ body }));
    expect(wide.body['scope']).toBe('documents:read documents:write');
    const more = await flow.refresh(tokenOf(wide), { scope: 'documents:read openid' });
    expect(refused(more)).toEqual([400, 'invalid_scope']);
    expect((await flow.refresh(tokenOf(wide))).status).toBe(200);
  });

  test('offline_access is ignored if the sign-in did not grant it', async () => {
    const scope = 'openid offline_access documents:read';
    const first = await flow.tokens({ scope });
    expect(first['scope']).toBe('openid documents:read');
    const second = await flow.refresh(tokenOf({ body: first }), { scope });
    expect([second.status, second.body['scope']]).toEqual([200, 'openid documents:read']);
    expect(decodeJwt(String(second.body['access_token']))['scope']).toBe('documents:read');
    const more = { scope: `${scope} documents:write` };
    expect(refused(await flow.refresh(tokenOf(second), more))).toEqual([400, 'invalid_scope']);
    const alone = { scope: 'offline_access' };
    expect(refused(await flow.refresh(tokenOf(second), alone))).toEqual([400, 'invalid_scope']);
    const allowed = await flow.tokens({ scope, prompt: 'consent' });
    const third = await flow.refresh(tokenOf({ body: allowed }), { scope });
    expect(third.body['scope']).toBe(scope);
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['of another client', { client_id: 'native' }, 400, 'invalid_grant'],
    [
      'with a resource that was not granted',
      { resource: 'https://rsa.example/' },
      400,
      'invalid_target',
    ],
    ['with a resource of nobody', { resource: 'https://evil.example/' }, 400, 'invalid_target'],
    ['that is none', { refresh_token: 'x' }, 400, 'invalid_grant'],
    ['that is missing', { refresh_token: '' }, 400, 'invalid_request'],
    ['without a client', { client_id: '' }, 401, 'invalid_client'],
  ])('a refresh token %s is refused', async (_what, form, status, error) => {
    const token = await newToken(flow);
    expect(refused(await flow.refresh(token, form))).toEqual([status, error]);
  });

  test.each([
    ['RFC 8707 section 2', { resource: 'https://rsa.example/' }, 'invalid_target'],
    ['RFC 6749 section 6', { scope: 'documents:write' }, 'invalid_scope'],
  ])('%s: a refused request does not use up the refresh token', async (_section, form, error) => {
    const token = await newToken(flow, { scope: 'documents:read' });
    expect(refused(await flow.refresh(token, form))).toEqual([400, error]);
    expect((await flow.refresh(token)).status).toBe(200);
  });

  test('RFC 8707 section 2: a request for two resources is refused, and does not use up the refresh token', async () => {
    const token = await newToken(flow);
    const answer = await flow.post('/token', [
      ...Object.entries({ grant_type: 'refresh_token', client_id: 'web', refresh_token: token }),
      ['resource', DOCUMENTS],
      ['resource', 'https://rsa.example/'],
    ]);
    expect(refused(answer)).toEqual([400, 'invalid_target']);
    expect((await flow.refresh(token)).status).toBe(200);
  });

  test('a client that has a secret must send it', async () => {
    const browser = await flow.signedIn();
    const code = (await flow.allow(browser, { client_id: 'server' })).get('code') ?? '';
    const asServer = basic('server', SECRET);
    const { body } = await flow.redeem(code, { client_id: 'server' }, asServer);
    expect((await flow.refresh(tokenOf({ body }), { client_id: 'server' })).status).toBe(401);
    const { status } = await flow.refresh(tokenOf({ body }), { client_id: 'server' }, asServer);
    expect(status).toBe(200);
  });

  test('a client that is not registered for refresh tokens gets none', async () => {
    const client = await flow.stores.clients.get('web');
    if (client)
      await flow.stores.clients.add({
        ...client,
        client_id: 'once',
        grant_types: ['authorization_code'],
      });
    const browser = await flow.signedIn();
    const code = (await flow.allow(browser, { client_id: 'once' })).get('code') ?? '';
    const { body } = await flow.redeem(code, { client_id: 'once' });
    expect(body).not.toHaveProperty('refresh_token');
    expect(refused(await flow.refresh('x', { client_id: 'once' }))).toEqual([
      400,
      'unauthorized_client',
    ]);
  });

  test('RFC 9700 section 4.14.2: a refresh token that is used twice ends the grant with all its tokens', async () => {
    const old = await newToken(flow);
    const next = await flow.refresh(old);
    expect(await stands(flow, next.body)).toBe(true);
    expect(refused(await flow.refresh(old))).toEqual(INVALID_GRANT);
    expect(await stands(flow, next.body)).toBe(false);
    expect(refused(await flow.refresh(tokenOf(next)))).toEqual(INVALID_GRANT);
  });

  test('RFC 9700 section 4.14.2: the store keeps of a used token only the members that detect a second use', async () => {
    const nonce = 'n'.repeat(1000);
    const old = await newToken(flow, { scope: 'openid documents:read', nonce });
    const id = storedId('RefreshToken', old);
    const stored = async () => (await flow.stores.artefacts.get('RefreshToken', id)) ?? {};
    expect(await stored()).toMatchObject({ nonce });
    const next = await flow.refresh(old);
    await eventually(async () => expect(await stored()).not.toHaveProperty('attempt'));
    expect(Object.keys(await stored()).toSorted()).toEqual(REMAINS);
    expect(JSON.stringify(await stored()).length).toBeLessThan(500);
    const wider = await flow.refresh(old, { scope: 'documents:write' });
    expect(refused(wider)).toEqual([400, 'invalid_scope']);
    expect(await stands(flow, next.body)).toBe(true);
    expect(refused(await flow.refresh(old, { scope: 'documents:read' }))).toEqual(INVALID_GRANT);
    expect(await stands(flow, next.body)).toBe(false);
  });

  test('the refresh tokens of one account are limited, and a refused request does not use up the token', async () => {
    const rate = { burst: 3, per: 3600 };
    await using few = await testFlow({ limits: { visits: rate } });
    let token = await newToken(few);
    for (let n = 0; n < 2; n += 1) token = tokenOf(await few.refresh(token));
    const { status, headers } = await few.refresh(token);
    expect([status, Number(headers.get('retry-after')) > 1]).toEqual([429, true]);
    const { accountId } =
      (await few.stores.artefacts.get('RefreshToken', storedId('RefreshToken', token))) ?? {};
    await few.stores.limits.giveBack('refresh-tokens', String(accountId), rate);
    expect((await few.refresh(token)).status).toBe(200);
  });

  test('at most one of ten requests at the same time gets tokens, and the grant ends', async () => {
    const token = await newToken(flow);
    const answers = await Promise.all(Array.from({ length: 10 }, () => flow.refresh(token)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const answer of given) {
      expect(await stands(flow, answer.body)).toBe(false);
      expect(refused(await flow.refresh(tokenOf(answer)))).toEqual(INVALID_GRANT);
    }
  });

  test('RFC 7009 section 2.1: if a client revokes its refresh token, the grant ends; it cannot revoke that of another client', async () => {
    const body = await flow.tokens();
    const token = tokenOf({ body });
    const other = await flow.post('/token/revocation', { token, client_id: 'native' });
    expect(refused(other)).toEqual([400, 'unauthorized_client']);
    expect(await stands(flow, body)).toBe(true);
    const { status } = await flow.post('/token/revocation', { token, client_id: 'web' });
    expect([status, await stands(flow, body)]).toEqual([200, false]);
    expect(refused(await flow.refresh(token))).toEqual(INVALID_GRANT);
  });

  test('RFC 7662 section 2.1: introspection without authentication of the client says that no token is active', async () => {
    const body = await flow.tokens();
    for (const token of [tokenOf({ body }), String(body['access_token'])]) {
      const answer = await flow.post('/token/introspection', { token, client_id: 'web' });
      expect(answer.body).toEqual({ active: false });
    }
  });
});

describe('RFC 9449 section 5: DPoP', () => {
  let flow: TestFlow;
  beforeAll(async () => {
    flow = await testFlow({ tokens: { refresh: 3600 } });
  });
  afterAll(async () => {
    await flow[Symbol.asyncDispose]();
  });

  async function newKey() {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const proof = async (path = '/token') => ({
      dpop: await new SignJWT({
        htm: 'POST',
        htu: flow.config.issuer + path,
        jti: randomUUID(),
      })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .setIssuedAt()
        .sign(privateKey),
    });
    return proof;
  }

  const thumbprint = ({ body }: Answered) => decodeJwt(String(body['access_token']))['cnf'];

  test('RFC 9449 section 5: a confidential client that began with DPoP must go on with DPoP', async () => {
    const [proof, other] = [await newKey(), await newKey()];
    const secret = basic('server', SECRET);
    const refresh = (token: string, fields = {}) =>
      flow.refresh(token, { client_id: '' }, { ...secret, ...fields });
    const answer = await flow.allow(await flow.signedIn(), { client_id: 'server' });
    const form = { client_id: '' };
    const fields = { ...secret, ...(await proof()) };
    const first = await flow.redeem(answer.get('code') ?? '', form, fields);
    expect(first.body['token_type']).toBe('DPoP');
    // The key is required before and after the first use, and for a recently used token.
    expect(refused(await refresh(tokenOf(first)))).toEqual(INVALID_GRANT);
    const second = await refresh(tokenOf(first), await proof());
    expect([second.status, thumbprint(second)]).toEqual([200, thumbprint(first)]);
    expect(refused(await refresh(tokenOf(first)))).toEqual(INVALID_GRANT);
    expect(refused(await refresh(tokenOf(second)))).toEqual(INVALID_GRANT);
    const again = await refresh(tokenOf(first), await proof());
    expect(tokenOf(again)).toBe(tokenOf(second));
    const third = await refresh(tokenOf(second), await other());
    expect([third.status, third.body['token_type']]).toEqual([200, 'DPoP']);
    expect(refused(await refresh(tokenOf(third)))).toEqual(INVALID_GRANT);
  });

  test('RFC 9449 section 10.1: a confidential client that began with DPoP in a pushed request must go on with DPoP', async () => {
    const [proof, other] = [await newKey(), await newKey()];
    const secret = basic('server', SECRET);
    const asked = new URL(flow.authorize({ client_id: 'server' })).searchParams;
    const form = Object.fromEntries(asked);
    const pushed = async () => {
      const fields = { ...secret, ...(await proof('/request')) };
      const { status, body } = await flow.post('/request', form, fields);
      expect(status).toBe(201);
      const begun = { client_id: 'server', request_uri: String(body['request_uri']) };
      return (await flow.allow(await flow.signedIn(), begun)).get('code') ?? '';
    };
    const redeem = (code: string, fields = {}) =>
      flow.redeem(code, { client_id: '' }, { ...secret, ...fields });
    expect(refused(await redeem(await pushed()))).toEqual(INVALID_GRANT);
    expect(refused(await redeem(await pushed(), await other()))).toEqual(INVALID_GRANT);
    const first = await redeem(await pushed(), await proof());
    expect([first.status, first.body['token_type']]).toEqual([200, 'DPoP']);
    const plain = await flow.refresh(tokenOf(first), { client_id: '' }, secret);
    expect(refused(plain)).toEqual(INVALID_GRANT);
  });

  test('RFC 9449 section 5: a grant that began without DPoP may change to DPoP, but never back', async () => {
    const proof = await newKey();
    const plain = await newToken(flow);
    const bound = await flow.refresh(plain, {}, await proof());
    expect(bound.body['token_type']).toBe('DPoP');
    expect(refused(await flow.refresh(tokenOf(bound)))).toEqual(INVALID_GRANT);
    expect((await flow.refresh(tokenOf(bound), {}, await proof())).status).toBe(200);
  });

  test('a bound refresh token is not replaced, needs the key, and each use prolongs it', async () => {
    const proof = await newKey();
    const browser = await flow.signedIn();
    const code = (await flow.allow(browser)).get('code') ?? '';
    const token = tokenOf(await flow.redeem(code, {}, await proof()));
    const id = storedId('RefreshToken', token);
    const stored = () => flow.stores.artefacts.get('RefreshToken', id);
    const past = { ...(await stored()), exp: Math.floor(Date.now() / 1000) + 60 };
    await flow.stores.artefacts.put({ kind: 'RefreshToken', id, payload: past, seconds: 60 });

    const answers = await Promise.all(
      [1, 2, 3].map(async () => flow.refresh(token, {}, await proof())),
    );
    for (const answer of answers) expect([answer.status, tokenOf(answer)]).toEqual([200, token]);
    expect(Number((await stored())?.['exp'])).toBeGreaterThan(Date.now() / 1000 + 3000);

    const other = await newKey();
    expect(refused(await flow.refresh(token, {}, await other()))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(token))).toEqual(INVALID_GRANT);
    expect((await flow.refresh(token, {}, await proof())).status).toBe(200);
  });
});

test('a refresh token does not outlive its grant', async () => {
  const clock = new ManualClock(Date.now());
  await using flow = await testFlow({ people: { grant: 300 }, tokens: { refresh: 3600 } }, clock);
  const token = await newToken(flow);
  const next = await flow.refresh(token);
  const stored = await flow.stores.artefacts.get(
    'RefreshToken',
    storedId('RefreshToken', tokenOf(next)),
  );
  const grant = await flow.stores.artefacts.get('Grant', String(stored?.['grantId']));
  const rest = Number(grant?.['exp']) - clock.now() / 1000;
  expect(Number(stored?.['exp'])).toBeLessThanOrEqual(Date.now() / 1000 + rest + 1);
  clock.advance(302);
  expect(refused(await flow.refresh(tokenOf(next)))).toEqual(INVALID_GRANT);
});

describe('tokens.refreshGrace: tabs that refresh at once, and a client that lost the answer', () => {
  const clock = new ManualClock(Date.now());
  let flow: TestFlow;
  beforeAll(async () => {
    flow = await testFlow({}, clock);
  });
  afterAll(async () => {
    await flow[Symbol.asyncDispose]();
  });

  test('a repeated request gets the same successor, with a fresh access token, until the successor is used', async () => {
    const old = await newToken(flow);
    const first = await flow.refresh(old);
    clock.advance(GRACE - 2);
    const again = await flow.refresh(old);
    expect([again.status, tokenOf(again)]).toEqual([200, tokenOf(first)]);
    expect(again.body['access_token']).not.toBe(first.body['access_token']);
    const [before, after] = [first, again].map(({ body }) =>
      decodeJwt(String(body['access_token'])),
    );
    for (const claim of ['sub', 'grant_id', 'sub_gen', 'acr', 'auth_time', 'scope', 'aud']) {
      expect([claim, after?.[claim]]).toEqual([claim, before?.[claim]]);
    }
    expect(tokenOf(first)).not.toBe(old);
    expect((await flow.refresh(tokenOf(again))).status).toBe(200);
  });

  test('a repeated request ends the grant after the successor was used, since one of the two users is a thief', async () => {
    const old = await newToken(flow);
    const first = await flow.refresh(old);
    const second = await flow.refresh(tokenOf(first));
    expect(refused(await flow.refresh(old))).toEqual(INVALID_GRANT);
    expect(await stands(flow, second.body, clock)).toBe(false);
    expect(refused(await flow.refresh(tokenOf(second)))).toEqual(INVALID_GRANT);
  });

  test('a repeated request after the grace period ends the grant', async () => {
    const old = await newToken(flow);
    const first = await flow.refresh(old);
    clock.advance(GRACE);
    expect(refused(await flow.refresh(old))).toEqual(INVALID_GRANT);
    expect(await stands(flow, first.body, clock)).toBe(false);
  });

  test('the second answer has the same claims as the first, though the store keeps little of the used token', async () => {
    const old = await newToken(flow, { scope: 'openid profile documents:read', nonce: 'n' });
    const first = await flow.refresh(old);
    const id = storedId('RefreshToken', old);
    await eventually(async () => {
      const stored = (await flow.stores.artefacts.get('RefreshToken', id)) ?? {};
      expect(Object.keys(stored).toSorted()).toEqual(REMAINS);
    });
    const again = await flow.refresh(old);
    expect(again.body['scope']).toBe(first.body['scope']);
    const [before, after] = [first, again].map(({ body }) => decodeJwt(String(body['id_token'])));
    for (const claim of ['sub', 'nonce', 'auth_time', 'acr', 'amr', 'sid', 'preferred_username']) {
      expect([claim, after?.[claim]]).toEqual([claim, before?.[claim]]);
    }
  });

  test('a repeated request after the end of the grant is refused', async () => {
    const old = await newToken(flow);
    const token = tokenOf(await flow.refresh(old));
    await flow.post('/token/revocation', { token, client_id: 'web' });
    expect(refused(await flow.refresh(old))).toEqual(INVALID_GRANT);
  });

  test('a repeated request by another client, or with more scopes, is refused', async () => {
    const old = await newToken(flow, { scope: 'documents:read' });
    const first = await flow.refresh(old);
    expect(refused(await flow.refresh(old, { client_id: 'native' }))).toEqual(INVALID_GRANT);
    expect(refused(await flow.refresh(old, { scope: 'openid' }))).toEqual([400, 'invalid_scope']);
    expect(tokenOf(await flow.refresh(old))).toBe(tokenOf(first));
  });

  test('ten requests at the same time get the same successor, and the grant stays valid', async () => {
    const token = await newToken(flow);
    const answers = await Promise.all(Array.from({ length: 10 }, () => flow.refresh(token)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect(new Set(answers.map(tokenOf)).size).toBe(1);
    const [first] = answers as [Answered];
    expect(await stands(flow, first.body, clock)).toBe(true);
    expect((await flow.refresh(tokenOf(first))).status).toBe(200);
  });

  test('a successor looks like any other refresh token', async () => {
    const old = await newToken(flow);
    const successor = tokenOf(await flow.refresh(old));
    expect(successor).toMatch(/^[\w-]{43}$/);
    const elsewhere = await testFlow({}, clock);
    expect(refused(await elsewhere.refresh(successor))).toEqual(INVALID_GRANT);
    await elsewhere[Symbol.asyncDispose]();
  });
});

test('the store has only the hash of a refresh token', async () => {
  await using flow = await testFlow();
  const token = await newToken(flow);
  expect(await flow.stores.artefacts.get('RefreshToken', token)).toBeUndefined();
  const stored = await flow.stores.artefacts.get('RefreshToken', storedId('RefreshToken', token));
  expect(stored).toMatchObject({ kind: 'RefreshToken', clientId: 'web' });
  expect(JSON.stringify(stored)).not.toContain(token);
  const code = (await flow.allow(await flow.signedIn())).get('code') ?? '';
  expect(await flow.stores.artefacts.get('AuthorizationCode', code)).toBeUndefined();
  expect((await flow.refresh(storedId('RefreshToken', token))).status).toBe(400);
  expect((await flow.refresh(token)).status).toBe(200);
});

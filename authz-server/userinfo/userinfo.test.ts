import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ACRS } from '#shared/jose/acr.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { GENERATE } from '#shared/jose/jws.fixture.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import {
  ALICE,
  APP,
  APP_ORIGIN,
  DOCUMENTS,
  FOREIGN,
  ISSUER,
  LIFE,
  USERINFO,
  startUserinfo,
} from './userinfo.fixture.ts';
import type { UserinfoAnswer, TestUserinfo } from './userinfo.fixture.ts';

let endpoint: TestUserinfo;
beforeEach(async () => {
  endpoint = await startUserinfo();
});
afterEach(async () => {
  await endpoint[Symbol.asyncDispose]();
});

/** Returns the `error` of each challenged scheme, as a client reads it. */
function errorsOf(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  const challenges = parseChallenges(headers['www-authenticate'] ?? '') ?? [];
  return Object.fromEntries(challenges.map(({ scheme, params }) => [scheme, params?.['error']]));
}
function expectRefused(
  reply: UserinfoAnswer,
  status: number,
  errors: { readonly Bearer?: string; readonly DPoP?: string },
): void {
  expect([reply.status, errorsOf(reply.headers)]).toEqual([
    status,
    { Bearer: undefined, DPoP: undefined, ...errors },
  ]);
  expect(reply.headers['cache-control']).toBe('no-store');
  expect(reply.text).not.toMatch(/alice/);
}
const INVALID = { Bearer: 'invalid_token' };

describe('RFC 6750 section 3: requests without valid credentials', () => {
  test('section 2.3: a token in the query is not read; with another token in Authorization the answer is 400', async () => {
    const target = `/userinfo?access_token=${endpoint.token()}`;
    expectRefused(await endpoint.ask({ target }), 401, {});
    expect((await endpoint.bearer(endpoint.token(), { target })).status).toBe(400);
  });

  test('another scheme gets 401', async () => {
    expectRefused(await endpoint.ask({ fields: ['Authorization', 'Basic YTpi'] }), 401, {});
  });

  test('a request with two Authorization fields gets 400, even if both are valid', async () => {
    const good = `Bearer ${endpoint.token()}`;
    const reply = await endpoint.ask({ fields: ['Authorization', good, 'Authorization', good] });
    expect(reply.status).toBe(400);
    expect(reply.text).not.toMatch(/alice/);
  });

  test('any text in the Authorization field gets 400 or 401', async () => {
    const visible = fc.string({ unit: 'grapheme-ascii' });
    await fc.assert(
      fc.asyncProperty(visible, fc.constantFrom('Bearer ', 'DPoP ', ''), async (rest, scheme) => {
        const { status } = await endpoint.ask({ fields: ['Authorization', scheme + rest] });
        return status === 400 || status === 401;
      }),
      { numRuns: 60 },
    );
  });
});

describe('RFC 6750 section 2.2: a token in a form', () => {
  const FORM = ['Content-Type', 'application/x-www-form-urlencoded'];
  const send = (body: string, fields: readonly string[] = FORM, method = 'POST') =>
    endpoint.ask({ method, fields, body });
  const form = (token: string) => new URLSearchParams({ access_token: token }).toString();

  test.each([
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded; charset=UTF-8',
    'Application/X-WWW-Form-Urlencoded;charset=utf-8',
  ])('a form of the type %s gets the claims', async (type) => {
    const reply = await send(`a=b&${form(endpoint.token())}`, ['Content-Type', type]);
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      200,
      expect.objectContaining({ sub: ALICE.id }),
    ]);
  });

  test.each<[string, (token: string) => string, readonly string[], number]>([
    ['two tokens', (token) => `${form(token)}&${form(token)}`, FORM, 400],
    ['a token in Authorization, too', form, [...FORM, 'Authorization', 'Bearer x'], 400],
    ['an empty field Authorization', form, [...FORM, 'Authorization', ''], 400],
    ['a form that is too long', (token) => `${form(token)}&a=${'a'.repeat(16_384)}`, FORM, 413],
    ['no token', () => 'token=x', FORM, 401],
    ['an empty token', () => 'access_token=', FORM, 401],
    ['a token that is no token', () => form('a b'), FORM, 401],
    ['a second scheme', (token) => form(`${token}, Basic YTpi`), FORM, 400],
    ['a new line', (token) => form(`${token}\r\nX: y`), FORM, 401],
    ['octets that are no text', (token) => `${form(token)}%FF%00\u00ff`, FORM, 401],
    ['another type', form, ['Content-Type', 'text/plain'], 401],
    ['a part of several', form, ['Content-Type', 'multipart/form-data; boundary=x'], 401],
    ['no type', form, [], 401],
  ])('a request with %s is refused', async (_what, body, fields, status) => {
    const reply = await send(body(endpoint.token()), fields);
    expect(reply.status).toBe(status);
    expect(reply.text).not.toContain('alice');
  });

  test('a token in the content of GET is not read', async () => {
    expectRefused(await send(form(endpoint.token()), FORM, 'GET'), 401, {});
  });

  test('a token that is bound to a key is refused (RFC 9449 section 7.2)', async () => {
    expectRefused(await send(form(endpoint.bound)), 401, INVALID);
  });

  test('a revoked token is refused', async () => {
    const token = endpoint.token();
    expect((await send(form(token))).status).toBe(200);
    await endGrant(endpoint.access, 'g1');
    expectRefused(await send(form(token)), 401, INVALID);
  });
});

describe('RFC 9068 section 4: invalid access tokens', () => {
  test.each<[string, object, object]>([
    ['an ID token', {}, { typ: 'JWT' }],
    ['alg none', {}, { alg: 'none' }],
    ['an unknown key', {}, { kid: 'k2' }],
    ['another issuer', { iss: 'https://other.example' }, {}],
    ['the audience of nobody here', { aud: 'https://other.example/' }, {}],
    ['another epoch', { epoch: 'x' }, {}],
    ['a binding of another kind', { cnf: { 'x5t#S256': 'x' } }, {}],
    ['an invalid generation', { sub_gen: -1 }, {}],
  ])('a token with this fault gets invalid_token: %s', async (_, claims, header) => {
    expectRefused(await endpoint.bearer(endpoint.token(claims, header)), 401, INVALID);
  });

  test('a token that is signed by another key is refused', async () => {
    const stranger = GENERATE.ES256().privateKey;
    expectRefused(await endpoint.bearer(endpoint.token({}, {}, stranger)), 401, INVALID);
  });

  test('an expired token is refused', async () => {
    const token = endpoint.token();
    endpoint.clock.advance(LIFE - 1);
    expect((await endpoint.bearer(token)).status).toBe(200);
    endpoint.clock.advance(1);
    expectRefused(await endpoint.bearer(token), 401, INVALID);
  });

  test('a token that is cut off anywhere is refused', async () => {
    const token = endpoint.token();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: token.length - 1 }), async (length) => {
        const { status } = await endpoint.bearer(token.slice(0, length));
        return status === 401;
      }),
      { numRuns: 40 },
    );
  });
});

describe('a revocation takes effect for the next request', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['token', () => endpoint.stores.revocations.revoke('token', 'the-one', endpoint.until())],
    ['grant', () => endGrant(endpoint.access, 'g1')],
    ['key', () => endpoint.stores.revocations.revoke('key', 'k1', endpoint.until())],
    ['client', () => endpoint.stores.revocations.raise('client', 'app', endpoint.until())],
    ['person', () => endEverything(endpoint.access, ALICE.id)],
  ])('a token is refused after the end of the %s', async (_, end) => {
    const token = endpoint.token({ jti: 'the-one' });
    expect((await endpoint.bearer(token)).status).toBe(200);
    await end();
    expectRefused(await endpoint.bearer(token), 401, INVALID);
  });

  test('a token of a disabled person is refused, before other things of the person were ended', async () => {
    const token = endpoint.token();
    expect((await endpoint.bearer(token)).status).toBe(200);
    await endpoint.stores.people.replace({ ...ALICE, disabled: true, version: 1 });
    expectRefused(await endpoint.bearer(token), 401, INVALID);
  });

  test('a token of a person who is not in the directory is refused', async () => {
    expectRefused(await endpoint.bearer(endpoint.token({ sub: 'bob-id' })), 401, INVALID);
  });

  test('a token whose grant is no longer known is refused', async () => {
    await endpoint.stores.artefacts.remove('Access', 'g1');
    expectRefused(await endpoint.bearer(endpoint.token()), 401, INVALID);
  });

  test('a grant of an earlier generation does not support a token of a later one', async () => {
    await endpoint.stores.revocations.raise('person', ALICE.id, endpoint.until());
    expectRefused(await endpoint.bearer(endpoint.token({ sub_gen: 1 })), 401, INVALID);
  });

  test('a person who signed in again in the same second is accepted', async () => {
    await endEverything(endpoint.access, ALICE.id);
    await endpoint.grant('g2', 'openid', 1);
    const anew = endpoint.token({ sub_gen: 1, grant_id: 'g2' });
    expect((await endpoint.bearer(anew)).status).toBe(200);
  });
});

describe('OpenID Connect Core 1.0 section 5.3: tokens without a grant of openid are refused', () => {
  async function expectLacking(token: string): Promise<void> {
    const reply = await endpoint.bearer(token);
    expect([reply.status, reply.headers['cache-control']]).toEqual([403, 'no-store']);
    expect(errorsOf(reply.headers)).toEqual({ Bearer: 'insufficient_scope' });
    expect(reply.headers['www-authenticate']).toMatch(/scope="openid[ "]/);
    expect(reply.text).not.toMatch(/alice/);
  }

  test('a token of a machine is refused', async () => {
    const machine = { sub: 'app', sub_gen: undefined, grant_id: undefined };
    await expectLacking(endpoint.token(machine));
  });

  test('a token of a machine whose client_id looks like a person and whose scope has openid is refused', async () => {
    const claims = { sub_gen: undefined, grant_id: 'g1', scope: 'openid profile' };
    await expectLacking(endpoint.token(claims));
  });

  test('a token of a person without a grant is refused', async () => {
    await expectLacking(endpoint.token({ grant_id: undefined, scope: 'openid' }));
  });

  test.each([undefined, '', 'profile', 'openid_not'])(
    'a token that was requested with %j is refused, even if the grant holds openid',
    async (openid_scope) => {
      await expectLacking(endpoint.token({ openid_scope, scope: 'documents:read openid' }));
    },
  );

  test.each(['', 'profile', 'openid_not', 'OPENID'])(
    'a token of a grant of the scope %j is refused',
    async (scope) => {
      await endpoint.grant('g2', scope);
      await expectLacking(endpoint.token({ grant_id: 'g2', scope: 'openid' }));
    },
  );

  test('a token of a grant of a resource that has a scope of that name is refused', async () => {
    const resources = { [DOCUMENTS]: 'openid profile' };
    const payload = { accountId: ALICE.id, openid: { scope: 'profile' }, resources };
    await endpoint.stores.artefacts.put({ kind: 'Grant', id: 'g1', payload });
    await expectLacking(endpoint.token({ scope: 'openid profile' }));
  });

  test('a token of a grant of which openid was refused is refused', async () => {
    const openid = { scope: 'openid profile' };
    const payload = { accountId: ALICE.id, openid, rejected: { openid: { scope: 'openid' } } };
    await endpoint.stores.artefacts.put({ kind: 'Grant', id: 'g1', payload });
    await expectLacking(endpoint.token());
  });

  test('a token of a Grant that the engine no longer has is refused', async () => {
    await endpoint.stores.artefacts.remove('Grant', 'g1');
    await expectLacking(endpoint.token());
  });
});

test('a client that requires a second factor gets claims by a token of such a sign-in, and by no other', async () => {
  const [, weak, strong] = ACRS;
  const tokens = [weak, strong].map((acr) => endpoint.token({ acr }));
  await endpoint.stores.clients.replace({ ...APP, minimum_acr: 'second-factor' });
  const statuses = tokens.map(async (token) => (await endpoint.bearer(token)).status);
  expect(await Promise.all(statuses)).toEqual([401, 200]);
});

test('a token tells only named claims whose scope the grant and the client have', async () => {
  await endpoint.stores.clients.replace({ ...APP, scope: 'openid profile' });
  const named = {
    openid_scope: 'openid',
    openid_claims: 'preferred_username email groups __proto__',
  };
  const { text } = await endpoint.bearer(endpoint.token(named));
  expect(JSON.parse(text)).toEqual({ sub: ALICE.id, preferred_username: 'alice' });
  for (const openid_claims of [7, ['preferred_username'], null]) {
    const odd = await endpoint.bearer(endpoint.token({ ...named, openid_claims }));
    expect(JSON.parse(odd.text)).toEqual({ sub: ALICE.id });
  }
});

describe('RFC 9449 section 7: tokens that are bound to a key', () => {
  test('a bound token that is sent as Bearer is refused', async () => {
    expectRefused(await endpoint.bearer(endpoint.bound), 401, INVALID);
  });

  test('an unbound token that is sent as DPoP is refused', async () => {
    const fields = ['Authorization', `DPoP ${endpoint.token()}`, 'DPoP', endpoint.proof()];
    expectRefused(await endpoint.ask({ fields }), 401, { DPoP: 'invalid_token' });
  });

  test('a bound token without a proof, or with two proofs, is refused', async () => {
    expectRefused(await endpoint.dpop([]), 401, { DPoP: 'invalid_dpop_proof' });
    const two = await endpoint.dpop([endpoint.proof(), endpoint.proof()]);
    expectRefused(two, 400, { DPoP: 'invalid_request' });
  });

  test.each<[string, object]>([
    ['another URL', { htu: `${ISSUER}/token` }],
    ['the same path elsewhere', { htu: 'https://rs.example/userinfo' }],
    ['another method', { htm: 'POST' }],
    ['another token', { ath: 'x' }],
    ['yesterday', { iat: 1_799_913_600 }],
  ])('a proof for %s is refused', async (_, claims) => {
    const reply = await endpoint.dpop([endpoint.proof(claims)]);
    expectRefused(reply, 401, { DPoP: 'invalid_dpop_proof' });
  });

  test('a proof by another key is refused', async () => {
    const stolen = prover(endpoint.now).proof(endpoint.bound, { htu: USERINFO });
    expectRefused(await endpoint.dpop([stolen]), 401, { DPoP: 'invalid_token' });
  });

  test('section 11.1: of ten concurrent requests with the same proof one is answered', async () => {
    const proof = endpoint.proof();
    const replies = await Promise.all(Array.from({ length: 10 }, () => endpoint.dpop([proof])));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(9);
  });

  test.each(['GET', 'POST'])('a %s request with its proof gets the claims', async (htm) => {
    const reply = await endpoint.dpop([endpoint.proof({ htm })], { method: htm });
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      200,
      { sub: ALICE.id, preferred_username: 'alice', updated_at: 0 },
    ]);
    expect(reply.headers).not.toHaveProperty('dpop-nonce');
  });

  test('the Host field does not influence the URL that a proof must have', async () => {
    const proof = endpoint.proof({ htu: 'https://evil.example/userinfo' });
    for (const call of [{ host: 'evil.example' }, { target: 'https://evil.example/userinfo' }]) {
      expectRefused(await endpoint.dpop([proof], call), 401, { DPoP: 'invalid_dpop_proof' });
    }
  });

  test('section 9: a server that requires nonces sends one, and accepts a proof with it', async () => {
    await using asking = await startUserinfo({ tokens: { nonce: true } });
    const asked = await asking.dpop([asking.proof()], { fields: ['Origin', FOREIGN] });
    expectRefused(asked, 401, { DPoP: 'use_dpop_nonce' });
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'DPoP-Nonce, WWW-Authenticate, Retry-After',
    });
    const nonce = asked.headers['dpop-nonce'];
    const served = await asking.dpop([asking.proof({ nonce })]);
    expect([served.status, typeof served.headers['dpop-nonce']]).toEqual([200, 'string']);
  });
});

describe('OpenID Connect Core 1.0 section 5.3.2: the claims in the answer', () => {
  test.each(['GET', 'POST'])(
    'a %s request gets sub, and with the scope profile the name',
    async (method) => {
      const { status, text: body } = await endpoint.bearer(endpoint.token(), { method });
      expect([status, JSON.parse(body)]).toEqual([
        200,
        { sub: ALICE.id, preferred_username: 'alice', updated_at: 0 },
      ]);
    },
  );

  test('section 5.4: if the grant or the token lacks profile, the answer has only sub', async () => {
    await endpoint.grant('g2', 'openid');
    for (const claims of [{ grant_id: 'g2' }, { openid_scope: 'openid' }]) {
      const { text: body } = await endpoint.bearer(endpoint.token(claims));
      expect(JSON.parse(body)).toEqual({ sub: ALICE.id });
    }
  });

  test('section 5.4: with email and groups the answer has their current claims', async () => {
    const scope = 'openid profile email groups';
    await endpoint.grant('g2', scope);
    const token = endpoint.token({ grant_id: 'g2', openid_scope: scope });
    const told = async () => JSON.parse((await endpoint.bearer(token)).text);
    const named = { sub: ALICE.id, preferred_username: 'alice', updated_at: 0 };
    const before = { ...named, groups: [] };
    expect(await told()).toEqual(before);
    const emails = [{ address: 'alice@example.com', verified: false }];
    const profile = { display_name: 'Alice', emails, groups: ['Staff'] };
    const changed = { profile, profile_changed_at: 7_999 };
    await endpoint.stores.people.replace({ ...ALICE, ...changed, version: 1 });
    expect(await told()).toEqual({
      ...before,
      updated_at: 7,
      name: 'Alice',
      email: 'alice@example.com',
      email_verified: false,
      groups: ['Staff'],
    });
  });

  test('RFC 8707 section 2: the endpoint accepts a token of any resource, also of a bare origin in both spellings', async () => {
    for (const aud of ['https://rs.example', 'https://rs.example/', [DOCUMENTS, 'x:y']]) {
      expect((await endpoint.bearer(endpoint.token({ aud }))).status).toBe(200);
    }
  });

  test('the endpoint does not answer at another path', async () => {
    expect((await endpoint.bearer(endpoint.token(), { target: '/userinfo/x' })).status).toBe(404);
  });
});

describe('the Fetch Standard: which scripts may read the answer (CORS)', () => {
  const from = (origin: string) => ({ fields: ['Origin', origin] });

  test('a script of any origin of its client may read the answer', async () => {
    const origin = 'https://admin.example';
    const { status, headers } = await endpoint.bearer(endpoint.token(), from(origin));
    expect([status, headers['access-control-allow-origin']]).toEqual([200, origin]);
    expect(headers['access-control-allow-credentials']).toBe('true');
  });

  test.each(['*', 'https://app.example.evil.example', 'http://app.example'])(
    'a script of %s may not read the answer',
    async (origin) => {
      const { status, headers } = await endpoint.bearer(endpoint.token(), from(origin));
      expect([status, headers.vary]).toEqual([200, 'Origin']);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  test('a script of another client, or of a removed one, may not read the answer', async () => {
    const other = { ...APP, client_id: 'other', redirect_uris: [`${FOREIGN}/cb`] };
    await endpoint.stores.clients.add(other);
    const ofOther = await endpoint.bearer(endpoint.token(), from(FOREIGN));
    expect(ofOther.headers).not.toHaveProperty('access-control-allow-origin');
    await endpoint.stores.clients.remove('app');
    const ofNone = await endpoint.bearer(endpoint.token(), from(APP_ORIGIN));
    expect(ofNone.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('if a store fails, the answer is 503 with Retry-After and contains nothing about alice', () => {
  const down = () => Promise.reject(new StoreUnavailable('down'));
  const expectUnavailable = (reply: UserinfoAnswer) => {
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1']);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.text).not.toMatch(/alice|down/);
  };

  test.each<[string, () => void]>([
    ['the feed', () => Object.assign(endpoint.server.feed, { latest: down })],
    ['the grants', () => Object.assign(endpoint.stores.artefacts, { get: down })],
    ['the generations', () => Object.assign(endpoint.stores.revocations, { generation: down })],
    ['the directory', () => Object.assign(endpoint.server.directory, { find: down })],
    ['the clients', () => Object.assign(endpoint.stores.clients, { get: down })],
  ])('this store fails: %s', async (_, breakIt) => {
    const token = endpoint.token();
    const call = { fields: ['Origin', APP_ORIGIN] };
    expect((await endpoint.bearer(token, call)).status).toBe(200);
    breakIt();
    expectUnavailable(await endpoint.bearer(token, call));
  });

  test('the store of proofs fails', async () => {
    Object.assign(endpoint.stores.replay, { unique: down });
    expectUnavailable(await endpoint.dpop([endpoint.proof()]));
  });
});

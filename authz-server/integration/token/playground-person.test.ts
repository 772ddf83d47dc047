import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeJwt, UnsecuredJWT } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  DEVICE_CODE,
  PLAYGROUND_CLIENT,
  PLAYGROUND_DECISION,
  PLAYGROUND_PERSON,
  playgroundRedirectUri,
  playgroundResource,
  playgroundSigningKey,
} from '#shared/config/playground-client.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { DOCUMENTS, testAuthz } from '../authz.fixture.ts';
import {
  CALLBACK,
  PASSWORD,
  sent,
  testFlow,
  type TestFlow,
  VERIFIER,
} from '../code-flow.fixture.ts';
import { asPlayground, assertion } from './playground.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

let flow: TestFlow;
beforeAll(async () => {
  flow = await testFlow({ playground: true });
});
afterAll(async () => flow[Symbol.asyncDispose]());

type Form = Readonly<Record<string, string>>;

const codeSpace = () => playgroundResource(flow.config, 'authorization-code');
const deviceSpace = () => playgroundResource(flow.config, 'device-code');

const REQUEST = () => ({
  client_id: PLAYGROUND_CLIENT,
  response_type: 'code',
  redirect_uri: playgroundRedirectUri(flow.config),
  scope: 'play',
  resource: codeSpace(),
  state: 'the state',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
});

async function push(): Promise<string> {
  const { status, body } = await asPlayground(flow, '/request', REQUEST());
  expect([status, body]).toEqual([201, expect.objectContaining({ expires_in: 60 })]);
  return String(body['request_uri']);
}

const addressOf = (query: Form) =>
  `/auth?${new URLSearchParams({ client_id: PLAYGROUND_CLIENT, ...query }).toString()}`;
const take = (requestUri: string, browser = flow.browser()) =>
  browser.request('GET', addressOf({ request_uri: requestUri }));
const newCode = async () => sent(await take(await push())).get('code') ?? '';
const redeem = (code: string, form: Form = {}) =>
  asPlayground(flow, '/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: playgroundRedirectUri(flow.config),
    code_verifier: VERIFIER,
    ...form,
  });
const isActive = async (token: string) =>
  (await asPlayground(flow, '/token/introspection', { token })).body['active'];
const errorOf = (body: unknown) => (body as { readonly error?: unknown }).error;
const texts = async () => (await flow.stores.audit.open()).texts;

test('a pushed request gives a code at once, and that a token for the one space, without a refresh token', async () => {
  const page = await take(await push());
  expect([page.status, page.text, page.headers.get('set-cookie')]).toEqual([303, '', null]);
  const location = new URL(page.headers.get('location') ?? '');
  expect(location.origin + location.pathname).toBe(playgroundRedirectUri(flow.config));
  expect([...location.searchParams.keys()]).toEqual(['code', 'state', 'iss']);
  expect(location.searchParams.get('state')).toBe('the state');
  expect(location.searchParams.get('iss')).toBe(flow.config.issuer);
  const { status, body } = await redeem(location.searchParams.get('code') ?? '');
  expect(status).toBe(200);
  expect(Object.keys(body).toSorted()).toEqual([
    'access_token',
    'expires_in',
    'scope',
    'token_type',
  ]);
  const token = String(body['access_token']);
  const { aud, sub, scope, client_id, sub_gen, acr, name } = decodeJwt(token);
  expect({ aud, sub, scope, client_id, sub_gen, acr, name }).toEqual({
    aud: codeSpace(),
    sub: PLAYGROUND_PERSON,
    scope: 'play',
    client_id: PLAYGROUND_CLIENT,
    sub_gen: 0,
  });
  expect(await isActive(token)).toBe(true);
  expect((await asPlayground(flow, '/token/revocation', { token })).status).toBe(200);
  expect(await isActive(token)).toBe(false);
});

test('RFC 6749 section 4.1.2: a code that comes twice ends the token of the first time', async () => {
  const code = await newCode();
  const token = String((await redeem(code)).body['access_token']);
  expect(await isActive(token)).toBe(true);
  const again = await redeem(code);
  expect([again.status, errorOf(again.body)]).toEqual([400, 'invalid_grant']);
  expect(await isActive(token)).toBe(false);
});

test.each<[string, Form]>([
  ['another verifier', { code_verifier: 'w'.repeat(43) }],
  ['none', { code_verifier: '' }],
  ['another redirect URI', { redirect_uri: CALLBACK }],
  ['another resource', { resource: DOCUMENTS }],
])('a code is refused with %s', async (_what, form) => {
  const { status, body } = await redeem(await newCode(), form);
  expect(status).toBe(400);
  expect(body).not.toHaveProperty('access_token');
});

test('a code is of no use to another client', async () => {
  const code = await newCode();
  const other = await flow.redeem(code, { redirect_uri: playgroundRedirectUri(flow.config) });
  expect([other.status, errorOf(other.body)]).toEqual([400, 'invalid_grant']);
});

test.each<[string, Form, number, string]>([
  ['prompt', { prompt: 'none' }, 400, 'invalid_request'],
  ['login_hint', { login_hint: 'alice' }, 400, 'invalid_request'],
  ['max_age', { max_age: '0' }, 400, 'invalid_request'],
  ['acr_values', { acr_values: 'phr' }, 400, 'invalid_request'],
  ['nonce', { nonce: 'x' }, 400, 'invalid_request'],
  ['response_mode', { response_mode: 'form_post' }, 400, 'invalid_request'],
  ['dpop_jkt', { dpop_jkt: 'x'.repeat(43) }, 400, 'invalid_request'],
  ['a parameter of nobody', { who: 'alice' }, 400, 'invalid_request'],
  ['another scope', { scope: 'openid play' }, 400, 'invalid_scope'],
  ['another scope beside it', { scope: 'play admin' }, 400, 'invalid_scope'],
  ['another resource', { resource: DOCUMENTS }, 400, 'invalid_target'],
  ['another redirect URI', { redirect_uri: CALLBACK }, 400, 'invalid_request'],
  ['a plain challenge', { code_challenge_method: 'plain' }, 400, 'invalid_request'],
])('a pushed request with %s is refused', async (_what, form, status, error) => {
  const answer = await asPlayground(flow, '/request', { ...REQUEST(), ...form });
  expect([answer.status, errorOf(answer.body)]).toEqual([status, error]);
});

test('the client of this exchange gets no token for the spaces of the other exchanges', async () => {
  for (const other of ['client-credentials', 'device-code'] as const) {
    const resource = playgroundResource(flow.config, other);
    const { status, body } = await asPlayground(flow, '/request', { ...REQUEST(), resource });
    expect([status, errorOf(body)]).toEqual([400, 'invalid_target']);
  }
});

test('GET /auth of this client without a pushed request gives no page, no cookie and no code', async () => {
  const uri = await push();
  const requests: readonly Form[] = [
    REQUEST(),
    {},
    { ...REQUEST(), prompt: 'none' },
    { request_uri: uri, prompt: 'login' },
    { request_uri: uri, redirect_uri: CALLBACK },
    { request_uri: uri.slice(0, -1) },
    { request_uri: 'https://evil.example/request' },
    { request_uri: '' },
  ];
  for (const query of requests) {
    for (const browser of [flow.browser(), await flow.signedIn()]) {
      const page = await browser.request('GET', addressOf(query));
      expect([query, page.status, errorOf(JSON.parse(page.text))]).toEqual([
        query,
        400,
        expect.stringMatching(/^invalid_request/),
      ]);
      expect([page.headers.get('set-cookie'), page.headers.get('location')]).toEqual([null, null]);
      const posted = await browser.request(
        'POST',
        '/auth',
        new URLSearchParams(addressOf(query).slice(6)),
      );
      expect(posted.headers.get('location')).not.toMatch(/[?&]code=/);
    }
  }
  // Twice the same name, and a request of another kind: neither reaches a page.
  const twice = `${addressOf({ request_uri: uri })}&client_id=${PLAYGROUND_CLIENT}`;
  for (const [method, address] of [
    ['GET', twice],
    ['HEAD', addressOf({ request_uri: uri })],
  ] as const) {
    const page = await flow.browser().request(method, address);
    expect(page.headers.get('location') ?? '').not.toMatch(/code=|\/interaction/);
    expect(page.headers.get('set-cookie')).toBeNull();
  }
  // None of them has used it up.
  expect((await take(uri)).status).toBe(303);
});

test('a person at the address of a pushed request stays who they are, and the code is for the playground alone', async () => {
  const alice = await flow.signedIn();
  const page = await take(await push(), alice);
  expect(page.headers.get('set-cookie')).toBeNull();
  expect(page.headers.get('location')).toContain(`${playgroundRedirectUri(flow.config)}?code=`);
  expect((await alice.open('/account')).text).toContain('alice');
  const code = sent(page).get('code') ?? '';
  expect(decodeJwt(String((await redeem(code)).body['access_token'])).sub).toBe(PLAYGROUND_PERSON);
  // Neither does a browser of nobody become somebody.
  const stranger = flow.browser();
  await take(await push(), stranger);
  expect((await stranger.open('/account')).text).not.toContain('Playground');
  expect((await stranger.request('GET', '/account')).text).toContain('name="password"');
});

test('a request_uri is good once, and of ten at once for one', async () => {
  const uri = await push();
  const all = await Promise.all(Array.from({ length: 10 }, () => take(uri)));
  const codes = all.flatMap((page) => page.headers.get('location') ?? []);
  expect(codes).toHaveLength(1);
  expect(all.filter(({ status }) => status === 400)).toHaveLength(9);
  const late = await take(uri);
  expect([late.status, errorOf(JSON.parse(late.text))]).toEqual([400, 'invalid_request_uri']);
});

test('neither takes a pushed request of the other: the playground and another client', async () => {
  const form = {
    ...REQUEST(),
    client_id: 'web',
    redirect_uri: CALLBACK,
    scope: 'documents:read',
    resource: DOCUMENTS,
  };
  const { body } = await flow.post('/request', form);
  const theirs = String(body['request_uri']);
  const page = await take(theirs, await flow.signedIn());
  expect([page.status, errorOf(JSON.parse(page.text))]).toEqual([400, 'invalid_request_uri']);
  const query = new URLSearchParams({ client_id: 'web', request_uri: await push() });
  const other = await (await flow.signedIn()).request('GET', `/auth?${query.toString()}`);
  expect(other.headers.get('location') ?? '').not.toMatch(/[?&]code=/);
});

test('nobody pushes a request in the name of the playground by a request object (RFC 9101)', async () => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...REQUEST(), iss: PLAYGROUND_CLIENT, aud: flow.config.issuer };
  const request = new UnsecuredJWT(claims).setExpirationTime(now + 60).encode();
  for (const client_id of ['web', PLAYGROUND_CLIENT]) {
    const { status, body } = await flow.post('/request', { client_id, request });
    expect([client_id, status < 400, body['request_uri']]).toEqual([client_id, false, undefined]);
  }
  const pushed = await asPlayground(flow, '/request', { client_id: PLAYGROUND_CLIENT, request });
  expect(pushed.status).toBe(400);
});

test('no other client uses the redirect URI or the spaces of the playground, whoever is signed in', async () => {
  const alice = await flow.signedIn();
  for (const parameters of [
    { redirect_uri: playgroundRedirectUri(flow.config) },
    { resource: codeSpace(), scope: 'play' },
  ]) {
    const page = await alice.request('GET', flow.authorize(parameters));
    expect(page.headers.get('location') ?? '').not.toMatch(/[?&]code=|\/interaction/);
  }
  const wrong = await flow.post('/request', { ...REQUEST(), client_id: PLAYGROUND_CLIENT });
  expect([wrong.status, errorOf(wrong.body)]).toEqual([401, 'invalid_client']);
});

const askAsDevice = async () => {
  const { status, body } = await asPlayground(flow, '/device/auth', {
    scope: 'play',
    resource: deviceSpace(),
  });
  expect([status, body]).toEqual([200, expect.objectContaining({ interval: 5 })]);
  return { device_code: String(body['device_code']), user_code: String(body['user_code']) };
};
const poll = (device_code: string) =>
  asPlayground(flow, '/token', { grant_type: DEVICE_CODE, device_code });
const forDecision = () => ({ audience: flow.config.issuer + PLAYGROUND_DECISION });
const decide = async (user_code: string, decision: string, shown?: string) =>
  flow.post(PLAYGROUND_DECISION, {
    user_code,
    decision,
    client_assertion: shown ?? (await assertion(flow, forDecision())),
  });

test('a device code waits, is polled too fast, is allowed by the key, and gives one token', async () => {
  const { device_code, user_code } = await askAsDevice();
  expect(errorOf((await poll(device_code)).body)).toBe('authorization_pending');
  expect(errorOf((await poll(device_code)).body)).toBe('slow_down');
  expect((await decide(user_code, 'allow')).status).toBe(204);
  const { status, body } = await poll(device_code);
  expect(status).toBe(200);
  expect(body).not.toHaveProperty('refresh_token');
  const token = String(body['access_token']);
  expect(decodeJwt(token)).toMatchObject({ aud: deviceSpace(), sub: PLAYGROUND_PERSON });
  expect(errorOf((await poll(device_code)).body)).toBe('invalid_grant');
  expect((await asPlayground(flow, '/token/revocation', { token })).status).toBe(200);
  expect(await isActive(token)).toBe(false);
});

test('a denied device code gives access_denied, and a decision stands', async () => {
  const { device_code, user_code } = await askAsDevice();
  expect((await decide(user_code, 'deny')).status).toBe(204);
  expect(errorOf((await poll(device_code)).body)).toBe('access_denied');
  const { status, body } = await decide(user_code, 'allow');
  expect([status, errorOf(body)]).toEqual([400, 'invalid_grant']);
  expect(errorOf((await poll(device_code)).body)).toBe('access_denied');
});

test('ten decisions at once: one is done', async () => {
  const { user_code } = await askAsDevice();
  const all = await Promise.all(Array.from({ length: 10 }, () => decide(user_code, 'allow')));
  expect(all.filter(({ status }) => status === 204)).toHaveLength(1);
  expect(all.filter(({ status }) => status === 400)).toHaveLength(9);
});

test('a decision needs an assertion of the key, for this address, once', async () => {
  const { device_code, user_code } = await askAsDevice();
  const used = await assertion(flow, forDecision());
  expect((await decide('BCDF-GHJK', 'allow', used)).status).toBe(400);
  const otherKey = playgroundSigningKey(Buffer.alloc(32, 8));
  const shown: readonly string[] = [
    '',
    'x',
    used,
    await assertion(flow),
    await assertion(flow, { ...forDecision(), key: otherKey }),
    await assertion(flow, { audience: `${flow.config.issuer}/token` }),
    await assertion(flow, { ...forDecision(), claims: { sub: 'web' } }),
    await assertion(flow, { ...forDecision(), claims: { iss: 'web' } }),
    await assertion(flow, { ...forDecision(), claims: { jti: undefined } }),
    await assertion(flow, { ...forDecision(), claims: { jti: null } }),
    await assertion(flow, { ...forDecision(), claims: { jti: { a: 1 } } }),
    await assertion(flow, { audience: [forDecision().audience, flow.config.issuer] }),
  ];
  for (const one of shown) {
    const { status, body } = await decide(user_code, 'allow', one);
    expect([one, status, errorOf(body)]).toEqual([one, 401, 'invalid_client']);
  }
  // That for this address is of no use at the others.
  const elsewhere = await flow.post('/token', {
    grant_type: 'client_credentials',
    scope: 'play',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await assertion(flow, forDecision()),
  });
  expect(elsewhere.status).toBe(401);
  expect(errorOf((await poll(device_code)).body)).toBe('authorization_pending');
  for (const decision of ['', 'yes']) {
    expect((await decide(user_code, decision)).status).toBe(400);
  }
});

test('RFC 6749 section 3.2: a form with a parameter twice, or another one, decides nothing', async () => {
  const { device_code, user_code } = await askAsDevice();
  const more: readonly [string, string][] = [
    ['decision', 'deny'],
    ['user_code', user_code],
    ['client_assertion', 'x'],
    ['client_id', 'web'],
  ];
  for (const one of more) {
    const { status, body } = await flow.post(PLAYGROUND_DECISION, [
      ['user_code', user_code],
      ['decision', 'allow'],
      ['client_assertion', await assertion(flow, forDecision())],
      one,
    ]);
    expect([one, status, errorOf(body)]).toEqual([one, 400, 'invalid_request']);
  }
  const long = await decide(user_code, 'allow', 'x'.repeat(4096));
  expect([long.status, long.body['detail']]).toEqual([413, 'The form has at most 4096 bytes.']);
  expect(errorOf((await poll(device_code)).body)).toBe('authorization_pending');
});

test('neither decides about a device code of the other: the playground and a person', async () => {
  const theirs = await flow.post('/device/auth', { client_id: 'tv', scope: 'documents:read' });
  const { status, body } = await decide(String(theirs.body['user_code']), 'allow');
  expect([status, errorOf(body)]).toEqual([400, 'invalid_grant']);
  const { device_code, user_code } = await askAsDevice();
  const alice = await flow.signedIn();
  const page = await alice.open(`/device?user_code=${user_code}`);
  expect(page.text).not.toContain('value="allow"');
  expect(errorOf((await poll(device_code)).body)).toBe('authorization_pending');
});

test.each<[string, Form]>([
  ['another scope', { scope: 'openid' }],
  ['another resource', { resource: DOCUMENTS }],
  ['that of the code flow', { resource: 'https://api.example/playground/at/authorization-code/' }],
  ['a word about the sign-in', { acr_values: 'phr' }],
])('a device that asks for %s is refused', async (_what, form) => {
  const asked = { scope: 'play', resource: deviceSpace(), ...form };
  expect((await asPlayground(flow, '/device/auth', asked)).status).toBe(400);
});

test('the person leaves no sign-in, grant or consent behind, and no line in the audit log', async () => {
  await redeem(await newCode());
  const { artefacts, people } = flow.stores;
  for (const kind of ['SignIn', 'Access', 'Consent']) {
    expect([kind, await artefacts.countByAccount(kind, PLAYGROUND_PERSON)]).toEqual([kind, 0]);
  }
  for (const kind of ['Access', 'Consent']) {
    const { found } = await artefacts.pageByClient(kind, PLAYGROUND_CLIENT, { limit: 10 });
    expect([kind, found]).toEqual([kind, []]);
  }
  expect(await people.get(PLAYGROUND_PERSON)).toBeUndefined();
  const lines = await texts();
  expect(lines.some((line) => line.includes(PLAYGROUND_CLIENT))).toBe(true);
  expect(lines.filter((line) => line.includes(PLAYGROUND_PERSON))).toEqual([]);
});

test('nobody signs in as the person; somebody of that name is another, and changes nothing', async () => {
  const { stores, config } = flow;
  const signIn = async (name: string, password: string) => {
    const browser = flow.browser();
    return browser.submit(await browser.open('/account'), { name, password });
  };
  for (const name of [PLAYGROUND_PERSON, 'Playground', PLAYGROUND_CLIENT]) {
    expect([name, (await signIn(name, 'let-me-play')).status]).toEqual([name, 422]);
  }
  const people = {
    stores,
    clock: systemClock,
    random: systemRandom,
    longestLife: longestLife(config),
    passwords: createPasswords(argon2Once),
    realms: [],
  };
  const add = (name: string) => addPerson(people, { name, password: PASSWORD });
  await expect(add(PLAYGROUND_PERSON)).rejects.toThrow('a name is 1 to 64 letters');
  expect((await add('playground')).id).not.toBe(PLAYGROUND_PERSON);
  expect((await signIn('Playground', PASSWORD)).status).toBe(200);
  const token = String((await redeem(await newCode())).body['access_token']);
  expect(decodeJwt(token).sub).toBe(PLAYGROUND_PERSON);
});

test('without a playground the client, the person and the address of the decision are unknown', async () => {
  await using without = await testAuthz({ playground: false });
  const { status, body } = await asPlayground(without, '/request', REQUEST());
  expect([status, errorOf(body)]).toEqual([401, 'invalid_client']);
  const device = await asPlayground(without, '/device/auth', { scope: 'play' });
  expect(device.status).toBe(401);
  const shown = await assertion(without, forDecision());
  const decided = await without.post(PLAYGROUND_DECISION, { client_assertion: shown });
  expect(decided.status).toBe(404);
  const uri = 'urn:ietf:params:oauth:request_uri:x';
  const page = await fetched(`${without.url}${addressOf({ request_uri: uri })}`);
  expect([page.status, page.headers.get('set-cookie')]).toEqual([400, null]);
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import supertest from 'supertest';
import { removeConsents } from '#shared/people/access/consents.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { systemRandom } from '#shared/base/random.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { removePerson } from '#shared/people/remove-person.ts';
import type { Profile } from '#shared/stores/people/people.ts';
import { systemClock } from '#shared/base/clock.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import { PASSWORD, sent, testFlow, WEB } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

const STAFF = 'https://staff.example/';
const PROFILE: Profile = {
  display_name: 'Alice <b>Liddell</b>',
  emails: [{ address: 'alice@example.com', verified: true }],
  groups: ['Staff', 'R&D'],
  locale: 'en-GB',
  picture: 'https://pictures.example/alice.png',
};
const TOLD = {
  profile: {
    name: PROFILE.display_name,
    preferred_username: 'alice',
    locale: PROFILE.locale,
    picture: PROFILE.picture,
    updated_at: expect.any(Number),
  },
  email: { email: 'alice@example.com', email_verified: true },
  groups: { groups: PROFILE.groups },
};
const CLAIMS = new Set(Object.values(TOLD).flatMap((claims) => Object.keys(claims)));
const ALL = 'openid profile email groups';
const CLIENT = {
  ...WEB,
  client_id: 'teller',
  scope: `${ALL} offline_access documents:read staff`,
};

let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  flow = await testFlow({
    spaces: [
      { url: DOCUMENTS, realm: 'd', schemes: ['Bearer'], scopes: { safe: ['documents:read'] } },
      {
        url: STAFF,
        realm: 's',
        schemes: ['Bearer'],
        scopes: { safe: ['staff', 'groups'], unsafe: ['profile'] },
      },
    ],
  });
  await flow.stores.clients.add(CLIENT);
  browser = await flow.signedIn();
  await say(PROFILE);
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

const say = (profile: Profile) => setProfile(flow, 'alice', () => profile);

type Parameters = Readonly<Record<string, string>>;

const request = (scope: string, parameters: Parameters = {}) =>
  flow.authorize({ client_id: CLIENT.client_id, scope, prompt: 'consent', ...parameters });

/** Redeems the code of an authorization response. */
async function redeemed(answer: URLSearchParams) {
  const { body } = await flow.redeem(answer.get('code') ?? '', { client_id: CLIENT.client_id });
  return body;
}

/** Requests these scopes and allows the items. Returns the tokens. */
async function allowed(scope: string, items: readonly string[], parameters?: Parameters) {
  const page = await browser.open(request(scope, parameters));
  return redeemed(sent(await browser.submit(page, { decision: 'allow', item: items })));
}

/** Returns the claims about the person in an ID token or an access token. */
function toldIn(token: unknown): Record<string, unknown> {
  const claims = Object.entries(decodeJwt(String(token)));
  return Object.fromEntries(claims.filter(([claim]) => CLAIMS.has(claim)));
}

async function userinfo({ access_token }: Record<string, unknown>) {
  const fields = { authorization: `Bearer ${String(access_token)}` };
  return supertest(flow.url).get('/userinfo').set(fields);
}

const refresh = (token: unknown, scope?: string) =>
  flow.refresh(String(token), { client_id: CLIENT.client_id, ...(scope && { scope }) });

describe('OpenID Connect Core 1.0 section 5.4: claims that scopes request', () => {
  test.each(Object.entries(TOLD))(
    'the claims of the scope %s are at userinfo, except the address in the ID token, and not in the access token',
    async (scope, claims) => {
      const tokens = await allowed(`openid documents:read ${scope}`, [
        'openid',
        scope,
        `${DOCUMENTS} documents:read`,
      ]);
      expect(toldIn(tokens['id_token'])).toEqual(scope === 'email' ? {} : claims);
      expect((await userinfo(tokens)).body).toEqual({ sub: flow.accountId, ...claims });
      expect(toldIn(tokens['access_token'])).toEqual({});
    },
  );

  test('claims that the person does not allow are in no token or answer', async () => {
    const tokens = await allowed(ALL, ['openid', 'groups']);
    expect(toldIn(tokens['id_token'])).toEqual(TOLD.groups);
    expect((await userinfo(tokens)).body).toEqual({ sub: flow.accountId, ...TOLD.groups });
  });

  test('a client that may not request such a scope gets invalid_scope', async () => {
    for (const scope of ['email', 'groups']) {
      const page = await browser.open(flow.authorize({ scope: `openid ${scope}` }));
      expect(sent(page).get('error')).toBe('invalid_scope');
    }
  });

  test('claims of a scope that the client lost are omitted, even if they were granted', async () => {
    const scope = `${ALL} offline_access`;
    const tokens = await allowed(scope, scope.split(' '));
    const narrow = { ...CLIENT, scope: CLIENT.scope.replace(' email groups', '') };
    await flow.stores.clients.replace(narrow);
    expect((await userinfo(tokens)).body).toEqual({ sub: flow.accountId, ...TOLD.profile });
    const { body } = await refresh(tokens['refresh_token']);
    expect(toldIn(body['id_token'])).toEqual(TOLD.profile);
    // RFC 6749 section 5.1: the answer has the granted scope if it differs from the requested one.
    expect(body['scope']).toBe('openid profile offline_access');
    expect(decodeJwt(String(body['access_token']))['openid_scope']).toBe(body['scope']);
    await flow.stores.clients.replace(CLIENT);
  });
});

describe('claims have their current values', () => {
  test('a change is visible at userinfo and in the next ID token, which omit removed members', async () => {
    const scope = `${ALL} offline_access`;
    const tokens = await allowed(scope, scope.split(' '));
    await say({ groups: ['Board'] });
    const now = {
      preferred_username: 'alice',
      updated_at: expect.any(Number),
      groups: ['Board'],
    };
    expect((await userinfo(tokens)).body).toEqual({ sub: flow.accountId, ...now });
    const { body } = await refresh(tokens['refresh_token']);
    expect(toldIn(body['id_token'])).toEqual(now);
    await say(PROFILE);
  });

  test('RFC 6749 section 6: a refresh for fewer scopes gives fewer claims, in its own tokens only', async () => {
    const scope = `${ALL} offline_access`;
    const tokens = await allowed(scope, scope.split(' '));
    const { body } = await refresh(tokens['refresh_token'], 'openid email');
    expect(toldIn(body['id_token'])).toEqual({});
    expect((await userinfo(body)).body).toEqual({ sub: flow.accountId, ...TOLD.email });
  });
});

describe('an earlier grant with fewer scopes', () => {
  test('an earlier grant gives no other claims, and a refresh does not widen it', async () => {
    const before = await allowed('openid offline_access', ['openid', 'offline_access']);
    const wider = await refresh(before['refresh_token'], `${ALL} offline_access`);
    expect([wider.status, wider.body['error']]).toEqual([400, 'invalid_scope']);
    const { body } = await refresh(before['refresh_token']);
    expect(toldIn(body['id_token'])).toEqual({});
    expect((await userinfo(body)).body).toEqual({ sub: flow.accountId });
  });

  test('the person is asked about a new scope, and no claims are given before', async () => {
    const { stores, accountId } = flow;
    const store = { stores, clock: systemClock, longestLife: longestLife(flow.config) };
    await removeConsents(store, accountId, () => true);
    const other = await flow.signedIn();
    const old = await other.open(request('openid'));
    await other.submit(old, { decision: 'allow', item: ['openid'] });
    const silent = await other.open(request('openid email', { prompt: 'none' }));
    expect(sent(silent).get('error')).toBe('consent_required');
    const page = await other.open(request('openid email', { prompt: '' }));
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('alice@example.com')]);
  });
});

describe('the consent page for claims', () => {
  test('the page shows the values as text', async () => {
    const { text } = await browser.open(request(ALL));
    for (const value of ['alice@example.com', 'Staff', 'R&amp;D', 'en-GB', 'alice.png']) {
      expect(text).toContain(value);
    }
    expect(text).toContain('Alice &lt;b&gt;Liddell&lt;/b&gt;');
    expect(text).not.toContain('<b>');
  });

  test('the page does not show values that were not requested', async () => {
    const { text } = await browser.open(request('openid groups'));
    expect(text).toContain('Staff');
    expect(text).not.toMatch(/alice@example\.com|Liddell|en-GB/);
  });
});

describe('RFC 9068 section 2.2.2: a resource that has a scope for claims', () => {
  const items = ['openid', `${STAFF} staff`, `${STAFF} groups`];

  test('the access token has the claims if the person allowed them for this resource', async () => {
    const scope = 'openid staff groups';
    const tokens = await allowed(scope, items, { resource: STAFF });
    expect(decodeJwt(String(tokens['access_token']))).toMatchObject({
      aud: STAFF,
      scope: 'staff groups',
      groups: PROFILE.groups,
    });
    expect(toldIn(tokens['access_token'])).toEqual(TOLD.groups);
    expect(toldIn(tokens['id_token'])).toEqual({});
    const without = await allowed(scope, [...items.slice(0, 2), 'groups'], { resource: STAFF });
    expect(toldIn(without['access_token'])).toEqual({});
    expect(toldIn(without['id_token'])).toEqual(TOLD.groups);
  });
});

test('the account page shows the name and every address', async () => {
  await say({
    ...PROFILE,
    emails: [...(PROFILE.emails ?? []), { address: 'b@c', verified: false }],
  });
  const { text } = await browser.open('/account');
  expect(text).toContain('Alice &lt;b&gt;Liddell&lt;/b&gt;');
  expect(text).toContain('alice@example.com');
  expect(text).toMatch(/b@c\s+<span[^>]*>not confirmed</);
  expect(text).toContain('Staff, R&amp;D');
  await say(PROFILE);
});

test('tokens, pages and the password of a removed person are refused', async () => {
  const scope = `${ALL} offline_access documents:read`;
  const tokens = await allowed(scope, [
    ...`${ALL} offline_access`.split(' '),
    `${DOCUMENTS} documents:read`,
  ]);
  expect((await userinfo(tokens)).status).toBe(200);
  const page = await browser.open(request('openid'));
  const parts = { clock: systemClock, random: systemRandom, longestLife: longestLife(flow.config) };
  const passwords = { hash: () => Promise.reject(new Error('no password is set here')) };
  await removePerson({ ...parts, stores: flow.stores, passwords, realms: [] }, 'alice');
  expect((await userinfo(tokens)).status).toBe(401);
  expect(await refresh(tokens['refresh_token'])).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  });
  const late = await browser.submit(page, { decision: 'allow', item: ['openid'] });
  expect(late.status).toBeGreaterThanOrEqual(400);
  const account = await browser.open('/account');
  expect(account.text).not.toContain('Liddell');
  const signIn = await browser.submit(account, { name: 'alice', password: PASSWORD });
  expect(signIn.status).toBe(422);
});

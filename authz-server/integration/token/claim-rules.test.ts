import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import supertest from 'supertest';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { asApp, APP, testAuthz, type TestAuthz } from '../authz.fixture.ts';
import { testFlow, type TestFlow, WEB } from '../code-flow.fixture.ts';

const RULES = [
  'role="admin" if group "admins"',
  'role="user"',
  'preferred_username=email',
  'unit=attribute department',
  'roles=groups',
  'live=true',
];
const PROFILE = {
  display_name: 'Alice Liddell',
  emails: [{ address: 'alice@example.com', verified: true }],
  groups: ['admins'],
  attributes: [
    { name: 'department', value: 'research' },
    { name: 'salary', value: '100' },
  ],
};
const TOLD = {
  role: 'admin',
  preferred_username: 'alice@example.com',
  unit: 'research',
  roles: ['admins'],
  live: true,
};
const OTHERS = ['name', 'updated_at', 'email', 'email_verified', 'groups', 'salary'];
const ALL = new Set([...Object.keys(TOLD), ...OTHERS]);

/** Returns the claims that this suite is about. */
function toldIn(token: unknown): Record<string, unknown> {
  const claims = Object.entries(decodeJwt(String(token)));
  return Object.fromEntries(claims.filter(([claim]) => ALL.has(claim)));
}

describe('a person', () => {
  let flow: TestFlow;
  beforeAll(async () => {
    flow = await testFlow();
    await setProfile(flow, 'alice', () => PROFILE);
  });
  afterAll(async () => flow[Symbol.asyncDispose]());

  const rule = (...claim_rules: readonly string[]) =>
    flow.stores.clients.replace({ ...WEB, claim_rules });
  const userinfo = async (token: unknown) => {
    const fields = { authorization: `Bearer ${String(token)}` };
    return (await supertest(flow.url).get('/userinfo').set(fields)).body as object;
  };
  const SCOPE = { scope: 'openid offline_access documents:read', prompt: 'consent' };

  test('is told without a scope in the ID token, in the access token and at userinfo, also after a refresh', async () => {
    await rule(...RULES);
    const tokens = await flow.tokens(SCOPE);
    expect(toldIn(tokens['id_token'])).toEqual(TOLD);
    expect(toldIn(tokens['access_token'])).toEqual(TOLD);
    expect(await userinfo(tokens['access_token'])).toEqual({ ...TOLD, sub: flow.accountId });
    const { body } = await flow.refresh(String(tokens['refresh_token']));
    expect(toldIn(body['id_token'])).toEqual(TOLD);
    expect(toldIn(body['access_token'])).toEqual(TOLD);
  });

  test('a rule replaces the claim of a scope, and the other claims of the scope stay', async () => {
    await rule(...RULES);
    const tokens = await flow.tokens({ ...SCOPE, scope: 'openid profile documents:read' });
    const claims = { ...TOLD, name: 'Alice Liddell', updated_at: expect.any(Number) };
    expect(toldIn(tokens['id_token'])).toEqual(claims);
    expect(await userinfo(tokens['access_token'])).toEqual({ ...claims, sub: flow.accountId });
    expect(toldIn(tokens['access_token'])).toEqual(TOLD);
  });

  test('a change of rules or of the person counts at the next token and at userinfo', async () => {
    await rule(...RULES);
    const tokens = await flow.tokens(SCOPE);
    await rule('role="guest" if group "admins"', 'role="user"');
    expect(await userinfo(tokens['access_token'])).toEqual({ role: 'guest', sub: flow.accountId });
    const next = await flow.refresh(String(tokens['refresh_token']));
    expect(toldIn(next.body['id_token'])).toEqual({ role: 'guest' });
    await setProfile(flow, 'alice', () => ({}));
    const last = await flow.refresh(String(next.body['refresh_token']));
    expect(toldIn(last.body['id_token'])).toEqual({ role: 'user' });
    expect(toldIn(last.body['access_token'])).toEqual({ role: 'user' });
    await setProfile(flow, 'alice', () => PROFILE);
  });

  test('a client without rules learns no attribute, whatever its scopes', async () => {
    await flow.stores.clients.replace(WEB);
    const tokens = await flow.tokens({ ...SCOPE, scope: 'openid profile documents:read' });
    const updated_at = expect.any(Number);
    const claims = { name: 'Alice Liddell', preferred_username: 'alice', updated_at };
    expect(toldIn(tokens['id_token'])).toEqual(claims);
    expect(toldIn(tokens['access_token'])).toEqual({});
    expect(await userinfo(tokens['access_token'])).toEqual({ ...claims, sub: flow.accountId });
  });

  test('stored rules for reserved claims change nothing that the token is', async () => {
    const plain = await flow.tokens(SCOPE);
    const forged = ['sub', 'aud', 'iss', 'exp', 'scope', 'acr', 'sub_gen', 'nonce', 'client_id'];
    await rule(...forged.map((claim) => `${claim}="forged"`), '__proto__="x"');
    const tokens = await flow.tokens(SCOPE);
    for (const token of ['id_token', 'access_token']) {
      const [before, after] = [plain, tokens].map((all) => decodeJwt(String(all[token])));
      expect(Object.keys(after ?? {})).toEqual(Object.keys(before ?? {}));
      expect(JSON.stringify(after)).not.toContain('forged');
    }
  });

  test('the consent page names the claims and their values', async () => {
    await rule(...RULES, 'html="<b>"');
    const browser = await flow.signedIn();
    const { text } = await browser.open(flow.authorize({ ...SCOPE, scope: 'openid profile' }));
    expect(text).toContain('unit: research');
    expect(text).toContain('preferred_username: alice@example.com');
    expect(text).toContain('html: &lt;b&gt;');
    expect(text).not.toContain('salary');
  });
});

describe.each([true, false])('a machine, answered directly: %s', (direct) => {
  let authz: TestAuthz;
  beforeAll(async () => {
    authz = await testAuthz({ tokens: { direct } });
  });
  afterAll(async () => authz[Symbol.asyncDispose]());

  test('gets the claims that are the same for everybody', async () => {
    const client: ClientRecord = {
      ...APP,
      claim_rules: ['tenant="acme"', 'who=username', 'role="x" if group "a"', 'sub="root"'],
    };
    await authz.stores.clients.replace(client);
    const { body } = await authz.post('/token', { grant_type: 'client_credentials' }, asApp);
    const claims = decodeJwt(String(body['access_token']));
    expect(claims).toMatchObject({ tenant: 'acme', sub: 'app', client_id: 'app' });
    expect(Object.keys(claims).toSorted()).toEqual(
      [
        'aud',
        'client_gen',
        'client_id',
        'epoch',
        'exp',
        'iat',
        'iss',
        'jti',
        'scope',
        'sub',
      ].concat('tenant'),
    );
    await authz.stores.clients.replace(APP);
    const next = await authz.post('/token', { grant_type: 'client_credentials' }, asApp);
    expect(decodeJwt(String(next.body['access_token']))).not.toHaveProperty('tenant');
  });
});

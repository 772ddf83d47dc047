import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addClient } from '#shared/operations/clients/client-add.ts';
import { setClient } from '#shared/operations/clients/client-set.ts';
import { type House, perform } from '#shared/operations/operation.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { ALICE } from '../../authz-server/integration/pages/at-consent.fixture.ts';
import { fetched } from '../../authz-server/integration/fetched.fixture.ts';
import { claimsOf, testSite, WEB } from '../../authz-server/integration/site.fixture.ts';
import type { TestSite } from '../../authz-server/integration/site.fixture.ts';
import { startStore, STORE_KINDS } from './flow.ts';

const SCOPE = { scope: 'openid offline_access documents:read', prompt: 'consent' };
const TOLD = {
  role: 'admin',
  preferred_username: 'alice@example.com',
  unit: 'research',
};
const RULES = [
  'role=admin if group admins',
  'role=user',
  'preferred_username=email',
  'unit=attribute department if attribute level is 3',
];

describe.each(STORE_KINDS)('on %s: rules of a client', (kind) => {
  const parts = new AsyncDisposableStack();
  let site: TestSite;
  let house: House;
  beforeAll(async () => {
    site = parts.use(await testSite(await startStore(kind, parts)));
    house = site.server as unknown as House;
    const attributes = [
      { name: 'department', value: 'research' },
      { name: 'level', value: '3' },
    ];
    const emails = [{ address: 'alice@example.com', verified: true }];
    await perform(setUser, { name: 'alice', groups: ['admins'], emails, attributes }, house);
  });
  afterAll(async () => parts[Symbol.asyncDispose]());

  const rule = (...claim_rules: string[]) =>
    perform(setClient, { client_id: WEB.client_id, claim_rules }, house);

  async function tokens(): Promise<Record<string, unknown>> {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE, '/sign-in');
    const asked = await browser.open(site.authorize(SCOPE));
    return site.redeem(await browser.submit(asked, { decision: 'allow' }));
  }
  async function post(form: Record<string, string>): Promise<Record<string, unknown>> {
    const body = new URLSearchParams(form);
    const response = await fetched(`${site.url}/token`, { method: 'POST', body });
    return (await response.json()) as Record<string, unknown>;
  }
  const refreshed = ({ refresh_token: token }: Record<string, unknown>) =>
    post({ grant_type: 'refresh_token', client_id: WEB.client_id, refresh_token: String(token) });

  test('count for a code, a refresh and userinfo, and a change for the next of each', async () => {
    await rule(...RULES);
    const first = await tokens();
    expect(claimsOf(first['id_token'])).toMatchObject(TOLD);
    expect(claimsOf(first['access_token'])).toMatchObject(TOLD);
    const headers = { authorization: `Bearer ${String(first['access_token'])}` };
    const userinfo = async () => (await fetched(`${site.url}/userinfo`, { headers })).json();
    expect(await userinfo()).toMatchObject(TOLD);
    const second = await refreshed(first);
    expect(claimsOf(second['access_token'])).toMatchObject(TOLD);
    await perform(setUser, { name: 'alice', groups: [] }, house);
    expect(await userinfo()).toMatchObject({ ...TOLD, role: 'user' });
    await perform(setClient, { client_id: WEB.client_id, without: ['claim'] }, house);
    const third = await refreshed(second);
    for (const claim of Object.keys(TOLD)) {
      expect(claimsOf(third['id_token'])).not.toHaveProperty(claim);
      expect(claimsOf(third['access_token'])).not.toHaveProperty(claim);
    }
    await perform(setUser, { name: 'alice', groups: ['admins'] }, house);
  });

  test('a machine gets what is the same for everybody', async () => {
    const machine = {
      client_name: 'Reports',
      grant_types: ['client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
      scope: 'documents:read',
      claim_rules: ['tenant=acme', 'who=username', 'role=admin if group admins'],
    };
    const { client_id, client_secret = '' } = await perform(addClient, machine, house);
    const { access_token } = await post({
      grant_type: 'client_credentials',
      client_id,
      client_secret,
    });
    const claims = claimsOf(access_token);
    expect(claims).toMatchObject({ tenant: 'acme', sub: client_id });
    expect(claims).not.toHaveProperty('who');
    expect(claims).not.toHaveProperty('role');
  });

  test('ten changes and ten sign-ins at once: each token has the claims of one set of rules', async () => {
    const sets = [
      ['one=a', 'two=a'],
      ['one=b', 'two=b'],
    ] as const;
    await rule(...sets[0]);
    const [made] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, tokens)),
      ...Array.from({ length: 10 }, (_, n) => rule(...(sets[n % 2] ?? sets[0]))),
    ]);
    for (const token of made.flatMap((one) => [one['id_token'], one['access_token']])) {
      const { one, two } = claimsOf(token);
      expect(['a', 'b']).toContain(one);
      expect(two).toBe(one);
    }
  });
});

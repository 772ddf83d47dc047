import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { perform } from '#shared/operations/operation.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { houseOf } from '../../base/house.ts';
import { CLIENT_KINDS, type ClientKindName } from '../../pages/admin/client-kinds.ts';
import type { Changes, Page, TestBrowser } from '../browser.fixture.ts';
import { ALICE } from '../pages/at-consent.fixture.ts';
import { testSite, type TestSite } from '../site.fixture.ts';

let site: TestSite;
let browser: TestBrowser;
beforeAll(async () => {
  const often = { burst: 100_000, per: 1 };
  site = await testSite({ limits: { address: often, signIn: often } }, systemClock, true);
  await perform(setUser, { name: 'alice', admin: true }, houseOf(site.server));
  browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
});
afterAll(async () => site[Symbol.asyncDispose]());

const READABLE = { '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>', '&amp;': '&' } as const;
const linesIn = ({ text }: Page) =>
  /<pre>([^<]*)<\/pre>/
    .exec(text)?.[1]
    ?.replaceAll(/&[a-z#0-9]+;/g, (entity) => READABLE[entity as keyof typeof READABLE]) ?? '';

const formOf = (kind: string) => browser.open(`/admin/client-add?kind=${kind}`);

/** The client with this name. */
const named = async (name: string) =>
  (await site.server.stores.clients.list()).find((client) => client.client_name === name);

const REDIRECT = 'https://app.example/callback';
const NAME = `O'Neil "App"`;

const REGISTERED = {
  web: [
    { redirect_uris: REDIRECT, scope: ['openid', 'documents:read'] },
    { grant_types: ['authorization_code', 'refresh_token'], redirect_uris: [REDIRECT] },
    /^ISSUER_BASE_URL=http.*\nBASE_URL=https:\/\/app\.example\nCLIENT_ID=\w+\nCLIENT_SECRET=[\w-]+\n/,
  ],
  browser: [
    { redirect_uris: REDIRECT, scope: 'openid' },
    { token_endpoint_auth_method: 'none', redirect_uris: [REDIRECT] },
    /"redirect_uri": "https:\/\/app\.example\/callback"/,
  ],
  native: [
    { redirect_uris: 'http://127.0.0.1/callback', scope: ['openid', 'offline_access'] },
    { token_endpoint_auth_method: 'none', application_type: 'native' },
    /"scopes": \[\s*"openid",\s*"offline_access"\s*\]/,
  ],
  machine: [
    { scope: ['documents:read', 'documents:write'] },
    { grant_types: ['client_credentials'], scope: 'documents:read documents:write' },
    /^curl 'http[^']+\/token' -u '\w+:[\w-]+' \\\n/,
  ],
  device: [
    { scope: 'openid' },
    {
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    /^curl 'http[^']+\/device\/auth' -d client_id=\w+ /,
  ],
  mcp: [
    { scope: 'documents:read' },
    { redirect_uris: ['http://localhost:3334/oauth/callback'], application_type: 'native' },
    /^npx mcp-remote 'http[^']+\/documents\/' 3334 \\\n {2}--static-oauth-client-info '\{"client_id":"\w+"\}'$/,
  ],
} as const satisfies Record<ClientKindName, readonly [Changes, object, RegExp]>;

test.each(Object.keys(CLIENT_KINDS) as ClientKindName[])(
  'the form of the kind %s registers such a client, and gives lines for its developer',
  async (kind) => {
    const [given, client, lines] = REGISTERED[kind];
    const name = `${NAME} ${kind}`;
    const done = await browser.submit(await formOf(kind), { client_name: name, ...given });
    expect([done.status, linesIn(done)]).toEqual([200, expect.stringMatching(lines)]);
    expect(await named(name)).toMatchObject(client);
  },
);

test('the form of a kind has no field for a member that the kind determines', async () => {
  const { text } = await formOf('machine');
  expect(text).toContain('<input type="hidden" name="grant_types" value="client_credentials" />');
  expect(text).not.toMatch(/name="(?:redirect_uris|public|resources)"/);
  expect(text).toMatch(/type="checkbox"\s+name="scope"\s+value="documents:read"/);
  expect(text).not.toContain('value="admin"');
  expect(text).not.toContain('value="openid"');
});

test.each(Object.keys(CLIENT_KINDS))(
  'the form of the kind %s offers scopes of machines to machines only',
  async (kind) => {
    const { text } = await formOf(kind);
    expect(text.includes('value="revocations:follow"')).toBe(kind === 'machine');
  },
);

test('OpenID Connect Core 1.0 section 11: lines with offline_access ask for consent', async () => {
  const given = { client_name: 'Long', redirect_uris: REDIRECT };
  const scope = ['openid', 'offline_access'];
  const done = await browser.submit(await formOf('browser'), { ...given, scope });
  expect(linesIn(done)).toMatch(/"scope": "openid offline_access",\s+"prompt": "consent"/);
  const short = await browser.submit(await formOf('browser'), { ...given, scope: 'openid' });
  expect(linesIn(short)).not.toContain('prompt');
});

test('a refused form of a kind stays that form, with what was typed and ticked', async () => {
  const scope = ['openid', 'documents:read'];
  const refused = await browser.submit(await formOf('web'), { client_name: 'Keeps', scope });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('name="kind" value="web"');
  expect(refused.text).toContain('value="Keeps"');
  for (const value of scope) {
    expect(refused.text).toMatch(new RegExp(`value="${value}"\\s+checked`));
  }
  const again = await browser.submit(refused, { redirect_uris: REDIRECT });
  expect(again.status).toBe(200);
  expect((await named('Keeps'))?.scope).toBe('openid documents:read');
});

test('a mistake in a member without a field is said above the form', async () => {
  const page = await browser.submit(await formOf('machine'), {
    client_name: 'Odd',
    scope: 'documents:read',
    grant_types: 'nothing',
  });
  expect(page.status).toBe(422);
  expect(page.text).toMatch(/role="alert">\s*Nothing was done\.\s*grant_types/);
});

test.each(['', 'nothing', 'constructor', '__proto__'])(
  'the page without a kind, and of the kind "%s", leads to the form of each kind',
  async (kind) => {
    const { status, text } = await formOf(kind);
    expect(status).toBe(200);
    expect(text).toContain('name="token_endpoint_auth_method"');
    for (const name of Object.keys(CLIENT_KINDS)) {
      expect(text).toContain(`href="/admin/client-add?kind=${name}"`);
    }
  },
);

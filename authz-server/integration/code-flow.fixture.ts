import { createHash } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { systemClock } from '#shared/base/clock.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { APP, testAuthz } from './authz.fixture.ts';
import type { Answered, TestAuthz } from './authz.fixture.ts';
import { TestBrowser } from './browser.fixture.ts';
import type { Page } from './browser.fixture.ts';

export const CALLBACK = 'https://app.example/callback';
export const VERIFIER = 'v'.repeat(43);
export const PASSWORD = 'correct horse battery';

const SCOPE = 'openid profile offline_access documents:read documents:write';

/** A public client: a script in a browser. */
export const WEB: ClientRecord = {
  client_id: 'web',
  client_name: 'Web',
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
  redirect_uris: [CALLBACK],
  scope: SCOPE,
  default_scope: 'documents:read offline_access',
  created_at: 0,
};

/** A client with a secret (the one of `app`), which may have every scope. */
export const SERVER: ClientRecord = {
  ...APP,
  client_id: 'server',
  client_name: 'Server',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [CALLBACK],
  scope: SCOPE,
};

export const NATIVE: ClientRecord = {
  ...WEB,
  client_id: 'native',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback', 'com.example.app:/callback'],
};

export const TV: ClientRecord = {
  ...WEB,
  client_id: 'tv',
  grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
  redirect_uris: [],
};

type Parameters = Readonly<Record<string, string>>;

export interface TestFlow extends TestAuthz {
  readonly accountId: string;
  browser(): TestBrowser;
  /** Returns a browser in which alice is signed in. */
  signedIn(): Promise<TestBrowser>;
  /** Returns an authorization request of `web`; '' removes a parameter. */
  authorize(parameters?: Parameters): string;
  /** Opens the request and allows the requested access. Resolves to the parameters that the client gets. */
  allow(browser: TestBrowser, parameters?: Parameters): Promise<URLSearchParams>;
  redeem(code: string, form?: Parameters, fields?: Record<string, string>): Promise<Answered>;
  refresh(token: string, form?: Parameters, fields?: Record<string, string>): Promise<Answered>;
  /** Signs in, allows the request and redeems the code. */
  tokens(parameters?: Parameters): Promise<Record<string, unknown>>;
}

/** Starts the authorization server with alice and the clients above. */
export async function testFlow(
  settings: Readonly<Record<string, unknown>> = {},
  clock: Clock = systemClock,
  log: Log = silentLog,
): Promise<TestFlow> {
  // The limit is high, since each test signs in again.
  const limits = { account: { burst: 1000, per: 1 } };
  const authz = await testAuthz({ limits, ...settings }, clock, log);
  const { url, config, stores } = authz;
  for (const client of [WEB, SERVER, NATIVE, TV]) await stores.clients.add(client);
  const parts = { stores, clock, random: systemRandom, longestLife: longestLife(config) };
  const people = { ...parts, passwords: createPasswords(argon2Once), realms: [] };
  const { id } = await addPerson(people, { name: 'alice', password: PASSWORD });

  const flow: TestFlow = {
    ...authz,
    accountId: id,
    browser: () => new TestBrowser(url, config.issuer),

    async signedIn() {
      const browser = flow.browser();
      const page = await browser.open('/account');
      const account = await browser.submit(page, { name: 'alice', password: PASSWORD });
      if (account.status !== 200) throw new Error(`signing in gave ${account.status}`);
      return browser;
    },

    authorize(parameters = {}) {
      const query = new URLSearchParams({
        client_id: WEB.client_id,
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope: 'openid documents:read',
        state: 'the state',
        code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
        code_challenge_method: 'S256',
        ...parameters,
      });
      for (const [name, value] of Object.entries(parameters)) if (value === '') query.delete(name);
      return `${config.issuer}/auth?${query.toString()}`;
    },

    async allow(browser, parameters) {
      const page = await browser.open(flow.authorize(parameters));
      const asked = page.status === 200;
      return sent(asked ? await browser.submit(page, { decision: 'allow' }) : page);
    },

    redeem: (code, form, fields) => authz.post('/token', redemption(code, form), fields),

    refresh: (token, form, fields) =>
      authz.post(
        '/token',
        { grant_type: 'refresh_token', client_id: 'web', refresh_token: token, ...form },
        fields,
      ),

    async tokens(parameters) {
      const answer = await flow.allow(await flow.signedIn(), parameters);
      const { status, body } = await flow.redeem(answer.get('code') ?? '');
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body;
    },

    [Symbol.asyncDispose]: () => authz[Symbol.asyncDispose](),
  };
  return flow;
}

/** Returns the form with which `web` redeems a code. */
export const redemption = (code: string, form: Parameters = {}) => ({
  grant_type: 'authorization_code',
  client_id: 'web',
  redirect_uri: CALLBACK,
  code_verifier: VERIFIER,
  code,
  ...form,
});

/** Returns the parameters that a redirect takes to the client. Throws if the page is no redirect. */
export function sent(page: Page): URLSearchParams {
  const location = page.headers.get('location');
  if (location === null) throw new Error(`no redirect but ${page.status} from ${page.url}`);
  const { search, hash } = new URL(location, page.url);
  return new URLSearchParams(search || hash.slice(1));
}

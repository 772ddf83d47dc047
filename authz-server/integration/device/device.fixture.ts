import { createHash } from 'node:crypto';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { DOCUMENTS, testAuthz } from '../authz.fixture.ts';
import type { Answered, TestAuthz } from '../authz.fixture.ts';
import { CALLBACK, redemption, sent, VERIFIER, WEB } from '../code-flow.fixture.ts';
import { TestBrowser } from '../browser.fixture.ts';
import type { Page } from '../browser.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
export const PASSWORD = 'correct horse battery staple';

export const TV: ClientRecord = {
  client_id: 'tv',
  client_name: 'Living room TV',
  grant_types: [DEVICE_CODE, 'refresh_token'],
  token_endpoint_auth_method: 'none',
  scope: 'openid profile offline_access documents:read documents:write',
  default_scope: 'openid documents:read',
  created_at: 0,
};

/** The parameters of a device that requests all access. */
export const ALL = { scope: 'openid profile documents:read documents:write', resource: DOCUMENTS };
/** Settings for tests that are not about guessing. */
export const GENEROUS = { limits: { userCode: { burst: 1000, per: 1 } } };

type Name = 'alice' | 'bob' | 'carol';

export interface DeviceAnswer {
  readonly device_code: string;
  readonly user_code: string;
}

/** The authorization server with the people alice, bob and carol, and clients for them. */
export interface DeviceFlow extends AsyncDisposable {
  readonly authz: TestAuthz;
  readonly clock: ManualClock;
  readonly store: AccessStore;
  readonly people: Readonly<Record<Name, PersonRecord>>;
  /** Returns the number of the person's grants that have not ended. */
  grants(name: Name): Promise<number>;
  browser(): TestBrowser;
  signedIn(name: Name): Promise<TestBrowser>;
  /** Requests codes as a device (RFC 8628 section 3.1). */
  askAsDevice(params?: Readonly<Record<string, string>>): Promise<DeviceAnswer>;
  /** Polls once, an interval after the last poll (RFC 8628 section 3.4). */
  poll(device: DeviceAnswer): Promise<Answered>;
  /** Returns tokens of the client `web` by the code flow, with all access allowed. */
  useWeb(browser: TestBrowser, scope: string): Promise<Answered>;
  /** Returns the status of the userinfo endpoint for an access token. */
  userinfo(token: unknown): Promise<number>;
  refresh(client: string, token: unknown): Promise<Answered>;
}

export async function openDeviceFlow(
  settings: Readonly<Record<string, unknown>> = {},
  log: Log = silentLog,
): Promise<DeviceFlow> {
  // The engine does not use our clock; both begin at the same time.
  const clock = new ManualClock(Date.now());
  const authz = await testAuthz(settings, clock, log);
  const { stores, config } = authz;
  const store = { stores, clock, longestLife: longestLife(config) };
  const passwords = createPasswords(argon2Once);
  const add = (name: string) =>
    addPerson(
      { ...store, stores, passwords, random: systemRandom, realms: [] },
      { name, password: PASSWORD },
    );
  const people = { alice: await add('alice'), bob: await add('bob'), carol: await add('carol') };
  await stores.clients.add(TV);
  await stores.clients.add(WEB);
  const browser = () => new TestBrowser(authz.url, config.issuer);

  return {
    authz,
    clock,
    store,
    people,
    browser,
    grants: async (name) => (await listAccess(store, people[name].id)).length,
    async signedIn(name) {
      const one = browser();
      await signIn(one, await one.open('/account'), name);
      return one;
    },
    async askAsDevice(params = {}) {
      const fields = { 'user-agent': 'TV/1.0 (Linux)' };
      const { body } = await authz.post('/device/auth', { client_id: 'tv', ...params }, fields);
      const { device_code, user_code } = body;
      if (typeof device_code !== 'string' || typeof user_code !== 'string') {
        throw new Error(JSON.stringify(body));
      }
      return { device_code, user_code };
    },
    poll({ device_code }) {
      clock.advance(config.device.interval);
      return authz.post('/token', { grant_type: DEVICE_CODE, client_id: 'tv', device_code });
    },
    async useWeb(one, scope) {
      const query = new URLSearchParams({
        client_id: WEB.client_id,
        response_type: 'code',
        redirect_uri: CALLBACK,
        scope,
        resource: DOCUMENTS,
        code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
        code_challenge_method: 'S256',
      });
      const consent = await one.open(`/auth?${query.toString()}`);
      const answer = sent(await one.submit(consent, { decision: 'allow' }));
      return authz.post('/token', redemption(answer.get('code') ?? ''));
    },
    async userinfo(token) {
      const headers = { authorization: `Bearer ${String(token)}` };
      return (await fetched(`${authz.url}/userinfo`, { headers })).status;
    },
    refresh: (client_id, token) =>
      authz.post('/token', {
        grant_type: 'refresh_token',
        client_id,
        refresh_token: String(token),
      }),
    [Symbol.asyncDispose]: () => authz[Symbol.asyncDispose](),
  };
}

/** Sends the sign-in form of the page and follows redirects. */
export function signIn(browser: TestBrowser, page: Page, name: string): Promise<Page> {
  return browser.submit(page, { name, password: PASSWORD }, '/sign-in');
}

export const pathOf = ({ user_code }: DeviceAnswer) => `/device?user_code=${user_code}`;

/** Whether the page asks for a decision. */
export const isConfirm = ({ forms }: Page) =>
  forms.some(({ action, method }) => action === '/device' && method === 'post');

/** Sends a form that no page offered, with the browser's own token. */
export async function post(
  browser: TestBrowser,
  form: Readonly<Record<string, string | readonly string[]>>,
): Promise<Page> {
  const { forms } = await browser.open('/account/end');
  const csrf = new Map(forms[0]?.fields).get('csrf') ?? '';
  const fields = Object.entries({ csrf, ...form }).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return browser.request('POST', '/device', new URLSearchParams(fields));
}

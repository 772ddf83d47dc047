import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { protect } from '#shared/guard/protect.ts';
import type { Guard } from '#shared/guard/guard.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { ACRS, type Acr } from '#shared/jose/acr.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import type { TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { allStarted } from '../parts/process.ts';
import { CliUser } from './cli-user.ts';
import { type Flow, type ForgedClaims, startFlowOn, STORE_KINDS, type StoreKind } from './flow.ts';
import { App, asksToSignIn, newPerson, sent, signedIn, signIn, tokensIn } from './person.ts';

const [, BY_PASSWORD, , PASSKEY] = ACRS;
const API = 'https://api.example/';
const AUTHENTICATION = [
  { acr: 'passkey', methods: ['DELETE'] },
  { maxAge: 300, methods: ['DELETE', 'PUT'] },
] as const;

interface Place {
  readonly flow: Flow;
  readonly app: App;
  readonly guard: Guard;
}

const places = new Map<StoreKind, Place>();
const parts = new AsyncDisposableStack();

async function start(kind: StoreKind): Promise<void> {
  const scopes = { safe: ['documents:read'], unsafe: ['documents:write'] };
  const needed = { scopes, authentication: AUTHENTICATION };
  const flow = parts.use(
    await startFlowOn(kind, {
      settings: ({ resource }) => ({
        device: { interval: 1 },
        trustedProxies: ['127.0.0.1'],
        spaces: [
          {
            url: `${resource}/documents/`,
            realm: 'documents',
            schemes: ['DPoP', 'Bearer'],
            ...needed,
          },
          { url: API, realm: 'api', schemes: ['Bearer'], serves: 'verify', ...needed },
        ],
      }),
    }),
  );
  const guard = protect({
    issuer: flow.pair.issuer,
    resource: API,
    scopes: (method) => (method === 'GET' ? scopes.safe : scopes.unsafe),
    authentication: AUTHENTICATION,
    revocation: 'none',
    log: { info() {}, warn() {}, error() {} },
  });
  parts.defer(() => guard.close());
  places.set(kind, { flow, app: await App.add(flow), guard });
}

beforeAll(() => allStarted(STORE_KINDS.map(start)));
afterAll(() => parts.disposeAsync());

/** Changes the person's latest sign-in to this method and age in seconds. */
async function becomes({ stores, config }: Flow, { id }: Person, acr: Acr, ago = 0): Promise<void> {
  const store = { stores, clock: systemClock, longestLife: longestLife(config) };
  const [latest] = await listSignIns(store, id);
  const session = await stores.artefacts.getByUid('Session', latest?.uid ?? '');
  if (session === undefined) throw new Error('nobody is signed in');
  const loginTs = Math.floor(Date.now() / 1000) - ago;
  const payload = { ...session, acr, loginTs };
  const artefact = { kind: 'Session', id: String(session['jti']), payload, seconds: 3600 };
  await stores.artefacts.put(artefact);
}

/** Puts a token into the login whose sign-in is 1,000 seconds ago; resolves to the time of that sign-in. */
async function agedLogin(flow: Flow, user: CliUser): Promise<number> {
  const login = (await user.kept('login.json')) as { readonly access_token: string };
  const claims = decodeJwt<ForgedClaims>(login.access_token);
  const auth_time = Math.floor(Date.now() / 1000) - 1000;
  const access_token = await flow.forge({ ...claims, auth_time });
  await writeFile(user.file('login.json'), JSON.stringify({ ...login, access_token }));
  return auth_time;
}

describe.each(STORE_KINDS)('step-up (RFC 9470), on %s', (kind) => {
  let flow: Flow;
  let app: App;
  let guard: Guard;
  let person: Person;
  let browser: TestBrowser;
  beforeAll(async () => {
    const place = places.get(kind);
    if (place === undefined) throw new Error(`nothing was started on ${kind}`);
    ({ flow, app, guard } = place);
    person = await newPerson(flow);
    browser = await signedIn(flow, person);
  });

  /** Each endpoint: the audience of its tokens, and its status and challenge for a token. */
  const DOORS = {
    documents: (method: string, authorization: string) =>
      fetch(`${flow.pair.documents}absent`, { method, headers: { authorization } }),
    verify: (method: string, authorization: string) =>
      fetch(`${flow.pair.resource}/verify`, {
        headers: {
          authorization,
          'x-forwarded-method': method,
          'x-forwarded-proto': 'https',
          'x-forwarded-host': 'api.example',
          'x-forwarded-uri': '/absent',
        },
      }),
    guard: async (method: string, authorization: string) => {
      const request = new Request(`${API}absent`, { method, headers: { authorization } });
      const verdict = await guard.judge(request);
      return verdict.ok ? new Response(null, { status: 204 }) : verdict.response;
    },
  };
  const LET_IN = { documents: 404, verify: 204, guard: 204 };

  describe.each(['documents', 'verify', 'guard'] as const)('at %s', (door) => {
    const resource = () => (door === 'documents' ? flow.pair.documents : API);
    const ask = async (method: string, token: string) => {
      const response = await DOORS[door](method, `Bearer ${token}`);
      await response.body?.cancel();
      const field = response.headers.get('www-authenticate') ?? '';
      const challenges = parseChallenges(field) ?? [];
      const bearer = challenges.find(({ scheme }) => scheme === 'Bearer');
      return { status: response.status, params: { ...bearer?.params } };
    };

    test('a challenge leads to a request, a token and admission', async () => {
      await becomes(flow, person, BY_PASSWORD, 1000);
      const weak = await app.tokens(browser, { resource: resource() });
      expect((await ask('GET', weak.access)).status).toBeLessThan(405);
      const { status, params } = await ask('DELETE', weak.access);
      expect(status).toBe(401);
      expect(params).toMatchObject({
        error: 'insufficient_user_authentication',
        acr_values: PASSKEY,
        max_age: '300',
        scope: expect.stringContaining('documents:write'),
      });

      const { acr_values = '', max_age = '' } = params;
      const asked = { resource: resource(), acr_values, max_age };
      // The issuer's host is an IP address, so passkeys are impossible: the request ends and does not loop.
      const refused = sent(await browser.open(app.url(asked)));
      expect(refused.get('error')).toBe('unmet_authentication_requirements');

      await becomes(flow, person, PASSKEY);
      const strong = await app.tokens(browser, asked);
      expect(decodeJwt(strong.access)).toMatchObject({ acr: PASSKEY });
      expect((await ask('DELETE', strong.access)).status).toBe(LET_IN[door]);
      // The earlier token is unchanged.
      expect((await ask('DELETE', weak.access)).status).toBe(401);
    });

    test('if the sign-in is too old, max_age of the challenge asks for the password', async () => {
      await becomes(flow, person, BY_PASSWORD, 1000);
      const old = await app.tokens(browser, { resource: resource() });
      const { status, params } = await ask('PUT', old.access);
      expect(status).toBe(401);
      expect(params).toMatchObject({
        error: 'insufficient_user_authentication',
        max_age: '300',
        scope: expect.stringContaining('documents:write'),
      });
      expect(params).not.toHaveProperty('acr_values');

      const asked = { resource: resource(), max_age: params['max_age'] ?? '' };
      const page = await browser.open(app.url(asked));
      expect(asksToSignIn(page)).toBe(true);
      const code = sent(await signIn(browser, page, person)).get('code') ?? '';
      const recent = tokensIn(await app.redeem(code));
      expect((await ask('PUT', recent.access)).status).not.toBe(401);
    });

    test('a request for less than the challenge demands gives a token that is refused again', async () => {
      await becomes(flow, person, BY_PASSWORD);
      const asked = { resource: resource(), acr_values: BY_PASSWORD, max_age: '31536000' };
      const { access } = await app.tokens(browser, asked);
      expect((await ask('DELETE', access)).params).toMatchObject({ acr_values: PASSKEY });
    });
  });

  test('a refresh token from before the step-up stays weak', async () => {
    await becomes(flow, person, BY_PASSWORD);
    const scope = 'openid offline_access documents:read documents:write';
    const weak = { resource: API, scope, prompt: 'consent' };
    const { refresh } = await app.tokens(browser, weak);
    await becomes(flow, person, PASSKEY);
    expect(decodeJwt((await app.tokens(browser, { resource: API })).access)['acr']).toBe(PASSKEY);
    const { access } = tokensIn(await app.refresh(refresh, { acr_values: PASSKEY }));
    expect(decodeJwt(access)['acr']).toBe(BY_PASSWORD);
  });

  test('the command line says how to log in, and the new login is admitted', async () => {
    await using user = await CliUser.start(flow, person);
    await user.approve(['login', '--resource', flow.pair.documents]);
    const old = await agedLogin(flow, user);
    const url = `${flow.pair.documents}step-up.txt`;
    const put = ['request', 'PUT', url, '--data', 'text', '--header', 'content-type: text/plain'];
    const { code, said } = await user.run(...put);
    expect([code, said]).toEqual([1, expect.stringContaining('more recent sign-in')]);

    const [, words = ''] = /cli -- (login .*--max-age 300)$/m.exec(said) ?? [];
    const args = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, a, b]) => a ?? b ?? '');
    expect(args).toContain(flow.pair.documents);
    expect(await user.approve(args)).toMatchObject({ code: 0 });
    expect(await user.run(...put)).toMatchObject({ code: 0 });
    const { access_token } = (await user.kept('login.json')) as { access_token: string };
    expect(decodeJwt(access_token)['auth_time']).toBeGreaterThan(old);
  });
});

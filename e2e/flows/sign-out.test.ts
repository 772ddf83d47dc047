import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import type { Flow } from './flow.ts';
import { accesses, alsoAt, App, asksToSignIn, INVALID_GRANT } from './person.ts';
import { newPerson, refusal, sent, signedIn, tokensIn } from './person.ts';
import type { Tokens } from './person.ts';

const BYE = 'https://app.example/bye';
const OFFLINE = { scope: 'openid offline_access documents:read', prompt: 'consent' };
const ONLINE = { scope: 'openid documents:read' };

/** Addresses that differ slightly from the registered `BYE`. */
const NEAR_MISSES = [
  ['another path', `${BYE}/`],
  ['a longer path', `${BYE}e`],
  ['a dot segment', 'https://app.example/x/../bye'],
  ['a query', `${BYE}?a=b`],
  ['an empty query', `${BYE}?`],
  ['a fragment', `${BYE}#a`],
  ['another case of the host', 'https://APP.example/bye'],
  ['another case of the path', 'https://app.example/Bye'],
  ['a port', 'https://app.example:443/bye'],
  ['userinfo', 'https://app.example@evil.example/bye'],
  ['a trailing dot', 'https://app.example./bye'],
  ['percent-encoding', 'https://app.example/by%65'],
  ['another scheme', 'http://app.example/bye'],
  ['the redirect URI of the code', 'https://app.example/callback'],
  ['a script', 'javascript:alert(1)'],
  ['a relative one', '//evil.example'],
  ['a line break', `${BYE}\r\nLocation: https://evil.example/`],
  ['another site', 'https://evil.example/'],
] as const;

describe.each(STORE_KINDS)('on %s: signing out', (kind) => {
  let flow: Flow;
  let app: App;
  let person: Person;
  let browser: TestBrowser;

  beforeAll(async () => {
    flow = await startFlowOn(kind, { authz: 2 });
    app = await App.add(flow, '--post-logout-redirect-uri', BYE);
  });
  beforeEach(async () => {
    person = await newPerson(flow);
    browser = await signedIn(flow, person);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const isLive = async ({ access }: Tokens) => (await flow.pair.get(access)) === 200;
  const isSignedIn = async (one: TestBrowser) => !asksToSignIn(await one.open('/account'));

  /** A logout request (OpenID Connect RP-Initiated Logout 1.0 section 2). */
  const ask = (parameters: Record<string, string>, one = browser) =>
    one.open(`/session/end?${new URLSearchParams(parameters).toString()}`);
  const confirm = (page: Page, one = browser) => one.submit(page, { logout: 'yes' });

  async function expectEnded(tokens: Tokens): Promise<void> {
    expect(await isLive(tokens)).toBe(false);
    for (const server of [0, 1]) {
      const answer = await app.refresh(tokens.refresh, {}, {}, server);
      expect(refusal(answer)).toEqual(INVALID_GRANT);
    }
  }

  describe("revokes the session's access, and nothing else", () => {
    test.each<[string, (signIn: string) => Promise<Page>]>([
      ['from our own pages', async () => confirm(await browser.open('/sign-out'))],
      [
        'for a client (RP-Initiated Logout 1.0 section 2)',
        async () => confirm(await ask({ client_id: app.id })),
      ],
      [
        'as another sign-in on the account page',
        async (id) => {
          const other = await signedIn(flow, person, 1);
          const page = await other.open('/account');
          expect(page.text).toContain(`value="${id}"`);
          const asked = await other.open(`/account/end?end=sign-in&id=${id}`);
          return other.submit(asked);
        },
      ],
    ])('a sign-out %s revokes only the access of its session', async (_how, signOut) => {
      const elsewhere = await signedIn(flow, person, 1);
      const there = await app.tokens(elsewhere, ONLINE);
      const here = await app.tokens(browser, ONLINE);
      const kept = await tokensOfAnotherApp();
      const cookies = alsoAt(flow, browser, 1);
      for (const tokens of [here, kept.tokens, there]) expect(await isLive(tokens)).toBe(true);

      expect((await signOut(await signInOf(here))).status).toBeLessThan(400);
      expect([await isSignedIn(browser), await isSignedIn(cookies)]).toEqual([false, false]);
      for (const one of [browser, cookies]) {
        const silently = sent(await one.open(app.url({ prompt: 'none' })));
        expect(silently.get('error')).toBe('login_required');
      }
      await expectEnded(here);
      expect(await isLive(kept.tokens)).toBe(true);
      tokensIn(await kept.app.refresh(kept.tokens.refresh));
      expect([await isLive(there), await isSignedIn(elsewhere)]).toEqual([true, true]);
    });

    async function signInOf({ access }: Tokens): Promise<string> {
      const { grant_id } = decodeJwt(access);
      const grant = (await accesses(flow, person)).find(({ grantId }) => grantId === grant_id);
      return grant?.signIn ?? '';
    }

    /** Tokens with `offline_access` (OpenID Connect Core 1.0 section 11). */
    async function tokensOfAnotherApp() {
      const another = await App.add(flow);
      return { app: another, tokens: await another.tokens(browser, OFFLINE) };
    }

    test('an unredeemed code gives no tokens afterwards', async () => {
      const code = await app.code(browser, ONLINE);
      await confirm(await browser.open('/sign-out'));
      expect(refusal(await app.redeem(code, {}, {}, 1))).toEqual(INVALID_GRANT);
    });

    test('a sign-in that waits in another tab cannot continue', async () => {
      const another = await App.add(flow);
      const waiting = await browser.open(another.url(ONLINE));
      expect(waiting.status).toBe(200);
      const tab = alsoAt(flow, browser, 1);
      await confirm(await browser.open('/sign-out'));
      const late = await tab.submit(waiting, { decision: 'allow' });
      expect([late.status, late.headers.get('location')]).toEqual([400, null]);
      expect(await isSignedIn(tab)).toBe(false);
      expect(await accesses(flow, person)).toEqual([]);
    });
  });

  describe('OpenID Connect RP-Initiated Logout 1.0 section 2: id_token_hint', () => {
    test('names the client, so that the person returns with the state', async () => {
      const { id } = await app.tokens(browser, ONLINE);
      const state = 'a b&c=d#e"<';
      const page = await ask({ id_token_hint: id, post_logout_redirect_uri: BYE, state });
      expect(page.text).toContain('Test app');
      const back = await confirm(page);
      const location = new URL(back.headers.get('location') ?? '');
      expect(location.origin + location.pathname).toBe(BYE);
      expect([...location.searchParams]).toEqual([['state', state]]);
      expect(await isSignedIn(browser)).toBe(false);
    });

    test('may be missing', async () => {
      const page = await ask({ client_id: app.id, post_logout_redirect_uri: BYE });
      expect((await confirm(page)).headers.get('location')).toBe(BYE);
    });

    test('is refused if it is for another client than client_id', async () => {
      const { id } = await app.tokens(browser, ONLINE);
      const other = await App.add(flow, '--post-logout-redirect-uri', 'https://evil.example/');
      const page = await ask({
        id_token_hint: id,
        client_id: other.id,
        post_logout_redirect_uri: 'https://evil.example/',
      });
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      expect(await isSignedIn(browser)).toBe(true);
    });

    test('with a changed signature or none is refused', async () => {
      const { id } = await app.tokens(browser, ONLINE);
      const [header = '', payload = '', signature = ''] = id.split('.');
      const none = Buffer.from('{"alg":"none"}').toString('base64url');
      const changed = signature.startsWith('A') ? 'B' : 'A';
      for (const hint of [
        `${header}.${payload}.${changed}${signature.slice(1)}`,
        `${header}.${payload}.`,
        `${none}.${payload}.`,
        `${header}.${payload}`,
        'null',
      ]) {
        const page = await ask({ id_token_hint: hint, post_logout_redirect_uri: BYE });
        expect([hint, page.status]).toEqual([hint, 400]);
      }
      expect(await isSignedIn(browser)).toBe(true);
    });

    test('does not sign another person out without asking', async () => {
      const stranger = await newPerson(flow);
      const { id } = await app.tokens(await signedIn(flow, stranger), ONLINE);
      const page = await ask({ id_token_hint: id, post_logout_redirect_uri: BYE });
      expect(page.headers.get('location')).toBeNull();
      expect(await isSignedIn(browser)).toBe(true);
    });
  });

  test('RP-Initiated Logout 1.0 section 3: a post_logout_redirect_uri that is nearly registered is not followed: the person is asked, and stays on our page', async () => {
    for (const [what, uri] of NEAR_MISSES) {
      const page = await ask({ client_id: app.id, post_logout_redirect_uri: uri });
      const { status, headers } = page;
      expect([what, status, headers.get('location'), headers.get('content-type')]).toEqual([
        what,
        200,
        null,
        'text/html; charset=utf-8',
      ]);
      expect(headers.get('content-security-policy')).toContain("form-action 'self';");
    }
    expect(await isSignedIn(browser)).toBe(true);
    const page = await ask({
      client_id: app.id,
      post_logout_redirect_uri: 'https://evil.example/',
    });
    const done = await confirm(page);
    expect([done.headers.get('location'), new URL(done.url).origin]).toEqual([
      null,
      flow.pair.issuer,
    ]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('section 3: without a client the person is not redirected', async () => {
    const page = await ask({ post_logout_redirect_uri: BYE });
    const done = page.forms.length > 0 ? await confirm(page) : page;
    expect(done.headers.get('location')).toBeNull();
    expect(new URL(done.url).origin).toBe(flow.pair.issuer);
  });

  test('section 6: a link alone, or another site, signs no person out', async () => {
    const page = await ask({ client_id: app.id });
    expect(await isSignedIn(browser)).toBe(true);
    const [form] = page.forms;
    const fields = new Map(form?.fields);
    const stranger = await signedIn(flow, await newPerson(flow));
    const theirs = new Map((await stranger.open('/session/end')).forms[0]?.fields).get('xsrf');
    expect(theirs).toEqual(expect.any(String));
    for (const xsrf of ['', 'x', String(theirs)]) {
      const forged = new URLSearchParams({ ...Object.fromEntries(fields), xsrf, logout: 'yes' });
      const answer = await browser.request('POST', '/session/end/confirm', forged);
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
    expect(await isSignedIn(browser)).toBe(true);
    await confirm(page);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('ten sign-outs at once leave no session', async () => {
    const tokens = await app.tokens(browser, ONLINE);
    const also = alsoAt(flow, browser, 1);
    const page = await browser.open('/sign-out');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        (turn % 2 === 0 ? browser : also).send(page, { logout: 'yes' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    await expectEnded(tokens);
    expect([await isSignedIn(browser), await isSignedIn(also)]).toEqual([false, false]);
  });
});

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { ALICE, atConsent, idOf } from '../../authz-server/integration/pages/at-consent.fixture.ts';
import { answerIn, testSite } from '../../authz-server/integration/site.fixture.ts';
import type { TestSite } from '../../authz-server/integration/site.fixture.ts';
import { startStore, STORE_KINDS } from './flow.ts';

/** oidc-provider changes the session's id whenever a browser returns from one of our pages. */
describe.each(STORE_KINDS)('on %s: one browser with two tabs', (kind) => {
  const parts = new AsyncDisposableStack();
  let site: TestSite;
  beforeAll(async () => {
    site = parts.use(await testSite(await startStore(kind, parts)));
  });
  afterAll(async () => parts[Symbol.asyncDispose]());

  const authorize = () => site.authorize({ prompt: 'consent' });
  const ownCookies = ({ cookies }: TestBrowser, path: string) =>
    cookies
      .filter((cookie) => path.startsWith(cookie.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  /** Follows the redirect with the browser's current cookies. */
  function resuming(browser: TestBrowser, redirect: Page): () => Promise<Page> {
    const location = redirect.headers.get('location') ?? '';
    const cookie = ownCookies(browser, new URL(location).pathname);
    return () => browser.request('GET', location, undefined, { cookie });
  }

  /** Two tabs in which the person has clicked. Neither tab has returned to oidc-provider yet. */
  async function pressed(first = 'allow', second = 'allow') {
    const { browser, page } = await atConsent(site, { prompt: 'consent' });
    const other = await browser.open(authorize());
    const sent = await Promise.all([
      browser.send(page, { decision: first }),
      browser.send(other, { decision: second }),
    ]);
    const [one, two] = sent.map((redirect) => resuming(browser, redirect));
    if (one === undefined || two === undefined) throw new Error('there are two tabs');
    return { browser, one, two };
  }

  async function expectSignedIn(browser: TestBrowser) {
    expect((await browser.open('/account')).text).toContain('/sign-out');
    const silent = await browser.open(site.authorize({ prompt: 'none' }));
    expect(answerIn(silent).get('error')).not.toBe('login_required');
  }

  async function expectToken(page: Page) {
    const { access_token: token } = await site.redeem(page);
    const headers = { authorization: `Bearer ${String(token)}` };
    expect((await fetch(`${site.url}/userinfo`, { headers })).status).toBe(200);
  }

  test('"Allow" in both, one after the other: both get tokens, and the person stays signed in', async () => {
    const { browser, one, two } = await pressed();
    const pages = [await one(), await two()];
    for (const page of pages) await expectToken(page);
    await expectSignedIn(browser);
  });

  test('"Allow" in both at once: both get tokens, and the person stays signed in', async () => {
    for (let round = 0; round < 6; round++) {
      const { browser, one, two } = await pressed();
      for (const page of await Promise.all([one(), two()])) await expectToken(page);
      await expectSignedIn(browser);
    }
  });

  test.each([
    ['allow', 'deny'],
    ['deny', 'allow'],
    ['deny', 'deny'],
  ])('"%s" in one and "%s" in the other: the person stays signed in', async (first, second) => {
    const { browser, one, two } = await pressed(first, second);
    for (const page of [await one(), await two()]) expect(answerIn(page).get('state')).toBeTruthy();
    await expectSignedIn(browser);
  });

  test('after a lost answer the browser asks again, gets the same answer, and is still signed in', async () => {
    const { browser, one } = await pressed();
    const [first, again] = [await one(), await one()];
    expect(answerIn(again).toString()).toBe(answerIn(first).toString());
    await expectSignedIn(browser);
  });

  test('the former id of a session is a pointer only, and gives no access by itself', async () => {
    const { browser, one } = await pressed();
    const former = ownCookies(browser, '/');
    await one();
    const other = site.browser();
    const asked = await other.request('GET', site.authorize(), undefined, { cookie: former });
    const { location = '' } = Object.fromEntries(asked.headers);
    const interaction = location.split('/').at(-1) ?? '';
    const { artefacts } = site.server.stores;
    expect(await artefacts.get('Interaction', interaction)).toMatchObject({
      prompt: { name: 'login' },
    });
    const ids = [...former.matchAll(/session=([\w-]+)/g)].map(([, id = '']) => id);
    expect(ids).toHaveLength(1);
    expect(Object.keys((await artefacts.get('Session', ids[0] ?? '')) ?? {})).not.toContain(
      'accountId',
    );
  });

  test('RFC 6265 section 8.4: a request that writes after the password was given does not restore the former id', async () => {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE, '/sign-in');
    const former = ownCookies(browser, '/');
    const [, id] = /session=([\w-]+)/.exec(former) ?? [];
    const { artefacts } = site.server.stores;
    const get = artefacts.get.bind(artefacts);
    const [reads, goes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let times = 0;
    // The second read sees what the request would overwrite.
    const spy = jest.spyOn(artefacts, 'get').mockImplementation(async (what, one) => {
      if (what === 'Session' && one === id && ++times === 2) {
        reads.resolve();
        await goes.promise;
      }
      return get(what, one);
    });
    const silent = site.authorize({ prompt: 'none' });
    const late = site.browser().request('GET', silent, undefined, { cookie: former });
    await reads.promise;
    await browser.submit(await browser.open(site.authorize({ prompt: 'login' })), ALICE);
    goes.resolve();
    await late;
    spy.mockRestore();
    const thief = await site.browser().request('GET', '/account', undefined, { cookie: former });
    expect(thief.text).not.toContain('/sign-out');
    await expectSignedIn(browser);
  });

  test('RFC 6265 section 8.4: a former id does not resume an interaction of another session', async () => {
    const stolen = await pressed();
    const former = ownCookies(stolen.browser, '/').split('; ');
    await stolen.one();
    const { page, browser } = await atConsent(site, { prompt: 'consent' });
    const sent = await browser.send(page, { decision: 'allow' });
    const location = sent.headers.get('location') ?? '';
    const isSession = (pair: string) => pair.startsWith('countersign-session');
    const own = ownCookies(browser, new URL(location).pathname).split('; ');
    const cookie = [...own.filter((pair) => !isSession(pair)), ...former.filter(isSession)];
    const answer = await browser.request('GET', location, undefined, { cookie: cookie.join('; ') });
    expect(answer.headers.get('location')).toBeNull();
  });

  test.each<[string, (browser: TestBrowser) => Promise<unknown>]>([
    [
      'a password was given',
      async (browser) =>
        browser.submit(await browser.open(site.authorize({ prompt: 'login' })), ALICE),
    ],
    [
      'signing out',
      async (browser) =>
        browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out'),
    ],
    [
      'the sign-in was ended elsewhere',
      async () => {
        const accountId = await idOf(site, 'alice');
        const [latest] = await listSignIns(site.server, accountId);
        if (latest) await endSignIn(site.server, latest);
      },
    ],
  ])('after %s no former id is valid', async (_what, happens) => {
    const { browser, one, two } = await pressed();
    await one();
    await happens(browser);
    const late = await two();
    expect(late.text).toContain('This page is too old');
  });
});

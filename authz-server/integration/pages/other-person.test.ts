import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setUser } from '#shared/operations/people/user-set.ts';
import { perform } from '#shared/operations/operation.ts';
import { houseOf } from '../../base/house.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { answerIn, claimsOf, testSite, type TestSite, WEB } from '../site.fixture.ts';
import { ALICE, allowed, atConsent, BOB, idOf } from './at-consent.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => site[Symbol.asyncDispose]());

const EXPECTED = 'This is for another person';
const FORBIDDEN = 'You may not use this application';
const pathOf = ({ url }: Page) => new URL(url).pathname;
const formAt = ({ forms }: Page, end: string) =>
  forms.find(({ action }) => action.endsWith(end))?.action;
/** Follows the link to another account. */
const toOther = (browser: TestBrowser, page: Page) => browser.open(`${pathOf(page)}?account=other`);
/** Allows the client if the page asks for it. */
const decided = async (browser: TestBrowser, page: Page) =>
  formAt(page, '/consent') ? browser.submit(page, { decision: 'allow' }) : page;

describe('id_token_hint (OpenID Connect Core 1.0 section 3.1.2.2): no other person gets a code', () => {
  /** Returns the ID token of alice, and her browser. */
  async function hint() {
    const { browser, page } = await allowed(site);
    return { browser, id_token_hint: String((await site.redeem(page))['id_token']) };
  }

  test.each(['login', 'select_account', 'login consent'])(
    'with prompt=%s, a person who signs in as another person is asked again',
    async (prompt) => {
      const { browser, id_token_hint } = await hint();
      const page = await browser.open(site.authorize({ prompt, id_token_hint }));
      const answer = await browser.submit(await toOther(browser, page), BOB);
      expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
      expect(answer.text).toContain(EXPECTED);
      const again = await browser.submit(await toOther(browser, answer), BOB);
      expect(again.text).toContain(EXPECTED);
      const back = await decided(
        browser,
        await browser.submit(await toOther(browser, again), ALICE),
      );
      const sub = claimsOf((await site.redeem(back))['id_token'])['sub'];
      expect(sub).toBe(await idOf(site, 'alice'));
    },
  );

  test('a person who is signed in as another person can give up, and the client gets login_required', async () => {
    const { id_token_hint } = await hint();
    const { browser } = await allowed(site, {}, BOB);
    const page = await browser.open(site.authorize({ id_token_hint }));
    expect(page.text).toContain(EXPECTED);
    expect(page.text).toContain('bob');
    const answer = answerIn(await browser.submit(page, {}, formAt(page, '/abort')));
    expect([answer.get('error'), answer.get('code')]).toEqual(['login_required', null]);
  });

  test('with prompt=none, the client gets login_required', async () => {
    const { id_token_hint } = await hint();
    const { browser } = await allowed(site, {}, BOB);
    const answer = answerIn(await browser.open(site.authorize({ prompt: 'none', id_token_hint })));
    expect(answer.get('error')).toBe('login_required');
  });

  test('the person of the hint is not asked', async () => {
    const { browser, id_token_hint } = await hint();
    const answer = answerIn(await browser.open(site.authorize({ id_token_hint })));
    expect(answer.get('code')).not.toBeNull();
  });
});

describe('the claim `sub` with a value (OpenID Connect Core 1.0 section 5.5.1): no other person gets a code', () => {
  const claimsOfAlice = async () =>
    JSON.stringify({ id_token: { sub: { value: await idOf(site, 'alice') } } });

  test('a person who signs in as another person is asked again', async () => {
    const { browser } = await allowed(site);
    const asked = { prompt: 'login', claims: await claimsOfAlice() };
    const page = await browser.open(site.authorize(asked));
    const answer = await browser.submit(page, BOB);
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect(answer.text).toContain(EXPECTED);
    const back = await decided(
      browser,
      await browser.submit(await toOther(browser, answer), ALICE),
    );
    expect(claimsOf((await site.redeem(back))['id_token'])['sub']).toBe(await idOf(site, 'alice'));
  });

  test('a person who is signed in as another person can give up, and the client gets login_required', async () => {
    const { browser } = await allowed(site, {}, BOB);
    const page = await browser.open(site.authorize({ claims: await claimsOfAlice() }));
    expect(page.text).toContain(EXPECTED);
    const answer = answerIn(await browser.submit(page, {}, formAt(page, '/abort')));
    expect([answer.get('error'), answer.get('code')]).toEqual(['login_required', null]);
  });
});

describe('a person who loses the group of an application while its page is open', () => {
  const house = () => houseOf(site.server);
  const restrict = (groups?: readonly string[]) =>
    site.server.stores.clients.replace({ ...WEB, ...(groups && { allow_groups: groups }) });

  /** Opens a page for alice, and then takes the group from her. */
  async function lost(open: () => Promise<{ browser: TestBrowser; page: Page }>) {
    await perform(setUser, { name: 'alice', groups: ['staff'] }, house());
    await restrict(['staff']);
    const there = await open();
    await perform(setUser, { name: 'alice', groups: [] }, house());
    return there;
  }
  afterEach(() => restrict());

  test('sees that they may not use it when they allow it, and can use another account', async () => {
    const { browser, page } = await lost(() => atConsent(site));
    const refused = await browser.submit(page, { decision: 'allow' });
    expect([refused.status, refused.headers.get('location')]).toEqual([200, null]);
    expect(refused.text).toContain(FORBIDDEN);
    await perform(setUser, { name: 'bob', groups: ['staff'] }, house());
    const next = await browser.submit(await toOther(browser, refused), BOB);
    const answer = await decided(browser, next);
    const sub = claimsOf((await site.redeem(answer))['access_token'])['sub'];
    expect(sub).toBe(await idOf(site, 'bob'));
  });

  test('sees it when they reload the page of the decision', async () => {
    const { browser, page } = await lost(() => atConsent(site));
    expect((await browser.open(page.url)).text).toContain(FORBIDDEN);
  });

  test('sees it when they choose their account', async () => {
    const { browser, page } = await lost(async () => {
      const { browser: one } = await allowed(site);
      return { browser: one, page: await one.open(site.authorize({ prompt: 'select_account' })) };
    });
    const refused = await browser.submit(page, {}, formAt(page, '/account'));
    expect(refused.text).toContain(FORBIDDEN);
    const answer = answerIn(await browser.submit(refused, {}, formAt(refused, '/abort')));
    expect([answer.get('error'), answer.get('code')]).toEqual(['access_denied', null]);
  });

  test('sees it in each of ten forms that are sent at once, and no code is given', async () => {
    const { browser, page } = await lost(() => atConsent(site));
    const all = await Promise.all(
      Array.from({ length: 10 }, () => browser.submit(page, { decision: 'allow' })),
    );
    expect(all.filter(({ status }) => status >= 500)).toEqual([]);
    expect(all.some(({ text }) => text.includes(FORBIDDEN))).toBe(true);
    expect(all.filter(({ headers }) => headers.get('location')?.includes('code='))).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { fetched } from '../fetched.fixture.ts';
import { answerIn, claimsOf, testSite, type TestSite } from '../site.fixture.ts';
import { ALICE, allowed, atConsent, BOB, idOf } from './at-consent.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => site[Symbol.asyncDispose]());

const SELECT = { prompt: 'select_account' };
const actionOf = ({ forms }: Page, end: string) =>
  forms.find(({ action }) => action.endsWith(end))?.action;
const goOn = (browser: TestBrowser, page: Page) =>
  browser.submit(page, {}, actionOf(page, '/account'));

async function subjectOf(page: Page): Promise<unknown> {
  return claimsOf((await site.redeem(page))['access_token'])['sub'];
}

describe('prompt=select_account (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
  test('a person who is signed in sees the account, and goes on with it without a password', async () => {
    const { browser } = await allowed(site);
    const page = await browser.open(site.authorize(SELECT));
    expect(page.text).toContain('Continue as alice');
    expect(page.text).not.toContain('type="password"');
    expect(await subjectOf(await goOn(browser, page))).toBe(await idOf(site, 'alice'));
  });

  test('the choice is asked once, also if the person then decides about the client', async () => {
    const { browser } = await atConsent(site);
    const consent = await goOn(browser, await browser.open(site.authorize(SELECT)));
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(answerIn(answer).get('code')).not.toBeNull();
  });

  test.each(['select_account', 'login select_account', 'select_account consent'])(
    'a person who signs in for prompt=%s has chosen the account',
    async (prompt) => {
      const { browser, page } = await atConsent(site, { prompt });
      expect(page.text).toContain('name="decision"');
      const answer = await browser.submit(page, { decision: 'allow' });
      expect(answerIn(answer).get('code')).not.toBeNull();
    },
  );

  test('another person can sign in, which signs the first one out', async () => {
    const { browser } = await allowed(site);
    const before = (await listSignIns(site.server, await idOf(site, 'alice'))).length;
    const page = await browser.open(site.authorize(SELECT));
    const other = await browser.open(`${new URL(page.url).pathname}?account=other`);
    expect(other.forms[0]?.fields).toContainEqual(['name', '']);
    const consent = await browser.submit(other, BOB);
    expect(consent.text).toContain('bob');
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(await subjectOf(answer)).toBe(await idOf(site, 'bob'));
    expect(await listSignIns(site.server, await idOf(site, 'alice'))).toHaveLength(before - 1);
  });

  test('a person who gives up returns to the client with access_denied', async () => {
    const { browser } = await allowed(site);
    const page = await browser.open(site.authorize(SELECT));
    const answer = answerIn(await browser.submit(page, {}, actionOf(page, '/abort')));
    expect(answer.get('error')).toBe('access_denied');
  });

  test('beside login, a person who is signed in gives the password again', async () => {
    const { browser } = await allowed(site);
    const page = await browser.open(site.authorize({ prompt: 'select_account login' }));
    expect(page.text).toContain('type="password"');
    expect(answerIn(await browser.submit(page, ALICE)).get('code')).not.toBeNull();
  });

  test('beside none, the request is refused', async () => {
    const { browser } = await allowed(site);
    const answer = answerIn(await browser.open(site.authorize({ prompt: 'none select_account' })));
    expect(answer.get('error')).toBe('invalid_request');
  });

  test('the form chooses nothing in a request that asks for the password', async () => {
    const { browser } = await allowed(site);
    const page = await browser.open(site.authorize({ prompt: 'login' }));
    const csrf = new Map(page.forms[0]?.fields).get('csrf') ?? '';
    const path = `${new URL(page.url).pathname}/account`;
    const answer = await browser.request('POST', path, new URLSearchParams({ csrf }));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('This page is too old');
    expect((await browser.open(page.url)).text).toContain('type="password"');
  });

  test('ten forms at once give one answer', async () => {
    const { browser } = await allowed(site);
    const page = await browser.open(site.authorize(SELECT));
    const all = await Promise.all(Array.from({ length: 10 }, () => goOn(browser, page)));
    const codes = all
      .map(({ headers }) => headers.get('location') ?? '')
      .filter((location) => location.includes('code='));
    expect(new Set(codes).size).toBe(1);
  });
});

describe('prompt=create (Initiating User Registration via OpenID Connect 1.0 section 4)', () => {
  const metadataOf = async ({ url }: TestSite) =>
    (await (await fetched(`${url}/.well-known/openid-configuration`)).json()) as {
      prompt_values_supported: readonly string[];
    };

  test('where no visitor can make an account, it is as no prompt', async () => {
    const { browser } = await allowed(site);
    const answer = answerIn(await browser.open(site.authorize({ prompt: 'create' })));
    expect(answer.get('code')).not.toBeNull();
    const login = await browser.open(site.authorize({ prompt: 'create login' }));
    expect(login.text).toContain('type="password"');
    expect(login.text).not.toContain('/register');
    const { prompt_values_supported: all } = await metadataOf(site);
    expect(all).toEqual(['none', 'login', 'consent', 'select_account']);
  });

  test('where visitors can, a page offers a new account first, also to a person who is signed in', async () => {
    const mail = { host: 'mail.invalid', from: 'accounts@example.com' };
    await using open = await testSite({ mail, people: { registration: 'open' } });
    const { browser } = await allowed(open);
    const page = await browser.open(open.authorize({ prompt: 'create' }));
    expect(page.text).toContain('<a class="button primary" href="/register">Create an account</a>');
    expect(page.text.split('href="/register"')).toHaveLength(2);
    const again = await browser.submit(page, { ...ALICE, password: 'wrong' });
    expect(again.status).toBe(422);
    expect(again.text).toContain('<a class="button primary" href="/register">');
    expect(answerIn(await browser.submit(page, ALICE)).get('code')).not.toBeNull();
    expect((await metadataOf(open)).prompt_values_supported).toContain('create');
  });
});

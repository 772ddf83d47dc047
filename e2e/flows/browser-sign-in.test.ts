import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import type { BrowserContext, Page } from 'playwright-core';
import { tabTo } from '../parts/browser.ts';
import {
  addApp,
  decide,
  signIn,
  signInByKeyboard,
  title,
  startBrowserFlow,
} from './browser.fixture.ts';
import type { BrowserFlow } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';

/** The authorization code flow in Chromium, with real pages. */
let flow: BrowserFlow;
const scopeOf = ({ access_token: token }: { access_token: string }) =>
  String(decodeJwt(token)['scope']).split(' ').toSorted();

/** The status of a PUT with this token. */
async function put(token: string): Promise<number> {
  const { status } = await fetch(`${flow.pair.documents}browser.txt`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    body: 'from a browser',
  });
  return status;
}

describe.each(ONE_STORE)('on %s', (kind) => {
  beforeAll(async () => {
    flow = await startBrowserFlow(kind);
  });
  afterEach(async () => {
    expect(await flow.close()).toEqual([]);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  describe('RFC 6749 section 4.1: sign-in and consent', () => {
    test('the page names the client, its request and its host, and the code gives tokens', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask({ scope: 'openid documents:read documents:write' });
      await page.goto(asked.url);
      await expect(page.locator('main').innerText()).resolves.toContain('to continue to Test app');
      await signIn(page, person);

      await expect(title(page)).resolves.toBe('Allow access to Test app?');
      const said = await page.locator('main').innerText();
      expect(said).toContain('Read the documents');
      expect(said).toContain('Add, change and delete documents');
      expect(said).toContain(new URL(flow.callback.uri).host);
      await decide(page, 'Allow');

      const tokens = await asked.tokens();
      const claims = decodeJwt(tokens.access_token);
      expect(claims).toMatchObject({
        sub: person.id,
        client_id: flow.app.clientId,
        acr: 'urn:countersign:acr:password',
        auth_time: expect.any(Number),
      });
      expect(tokens.claims()).toMatchObject({ iss: flow.pair.issuer, sub: person.id });
      expect(await put(tokens.access_token)).toBe(201);
      expect(await flow.status(await flow.app.refresh(String(tokens.refresh_token)))).toBe(200);
    });

    test('the typed password can be shown, but is sent hidden, so that no browser remembers it as text', async () => {
      const { page, person } = await flow.visit();
      await page.goto(`${flow.pair.issuer}/account`);
      const field = page.getByLabel('Password');
      const show = page.getByRole('button', { name: 'Show what I type' });
      await field.fill(person.password);
      await show.press('Enter');
      expect(await field.getAttribute('type')).toBe('text');
      expect(await show.getAttribute('aria-pressed')).toBe('true');
      await page.evaluate(
        `document.forms[0].addEventListener('submit', () => { window.name = document.getElementById('password').type; })`,
      );
      await signIn(page, person);
      await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();
      expect(await page.evaluate('window.name')).toBe('password');
    });

    test('without script the page has no button to show the password', async () => {
      const { page, person } = await flow.visit({ script: false });
      await page.goto(`${flow.pair.issuer}/account`);
      expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign in']);
      await signIn(page, person);
      await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();
    });

    test('no address and no Referer on the way contains a secret', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask();
      const seen: string[] = [];
      page.on('request', (request) => seen.push(request.url(), request.headers()['referer'] ?? ''));
      await page.goto(asked.url);
      await signIn(page, person);
      await decide(page, 'Allow');
      const { headers } = await asked.answer();
      expect(headers.get('referer')).toBeNull();
      await page.waitForURL(`${flow.callback.uri}**`);
      expect(seen.join(' ')).toContain(flow.callback.uri);
      for (const secret of [person.name, person.password, 'csrf']) {
        expect(seen.join(' ')).not.toContain(secret);
      }
    });

    test('section 3.3: a scope that the person unticks is not in the token, and is not asked for again', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await signIn(page, person);
      await page.getByLabel('Add, change and delete documents').uncheck();
      await decide(page, 'Allow');
      await page.waitForURL(`${flow.callback.uri}**`);
      const tokens = await asked.tokens();
      expect(scopeOf(tokens)).toEqual(['documents:read']);
      expect([await flow.status(tokens), await put(tokens.access_token)]).toEqual([200, 403]);

      const again = await flow.app.ask();
      await page.goto(again.url);
      expect(page.url()).toContain(flow.callback.uri);
      expect(scopeOf(await again.tokens())).toEqual(['documents:read']);
    });

    test('section 4.1.2.1: a denial gives access_denied, and the next request asks again', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await signIn(page, person);
      await decide(page, 'Deny');
      await page.waitForURL(`${flow.callback.uri}**`);
      await expect(asked.tokens()).rejects.toMatchObject({ error: 'access_denied' });

      await page.goto((await flow.app.ask()).url);
      await expect(title(page)).resolves.toBe('Allow access to Test app?');
    });

    test('section 4.1.2.1: leaving the sign-in gives access_denied', async () => {
      const { page } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await page.getByRole('button', { name: 'Cancel' }).click();
      await expect(asked.tokens()).rejects.toMatchObject({ error: 'access_denied' });
    });

    test('after a wrong password the page says so, and the right one works', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await signIn(page, { ...person, password: 'not this one' });
      await expect(page.getByRole('alert').innerText()).resolves.toContain('is wrong');
      await expect(page.getByLabel('Name').inputValue()).resolves.toBe(person.name);
      await expect(page.getByLabel('Password').inputValue()).resolves.toBe('');

      await page.getByLabel('Password').fill(person.password);
      await page.getByLabel('Password').press('Enter');
      await decide(page, 'Allow');
      expect(await flow.status(await asked.tokens())).toBe(200);
    });

    test('by keyboard alone: the focus is in the first field, and the person can allow a part', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await signInByKeyboard(page, person);
      await tabTo(page.getByLabel('Add, change and delete documents'));
      await page.keyboard.press('Space');
      await tabTo(page.getByRole('button', { name: 'Allow' }));
      await page.keyboard.press('Enter');
      expect(scopeOf(await asked.tokens())).toEqual(['documents:read']);
    });

    test('without script a person can allow a part as well', async () => {
      const visitor = await flow.visit({ script: false });
      expect(await flow.status(await flow.tokens(visitor))).toBe(200);
    });
  });

  describe('CSP Level 3 section 6.4.1: Chromium applies form-action to redirects, too', () => {
    test('without consent the sign-in form itself leads to the client', async () => {
      const visitor = await flow.visit();
      const { page, person } = visitor;
      await flow.tokens(visitor);
      const again = await flow.app.ask({ prompt: 'login' });
      await page.goto(again.url);
      await signIn(page, person);
      expect(await flow.status(await again.tokens())).toBe(200);
      await page.waitForURL(`${flow.callback.uri}**`);
    });

    test('RFC 8252 section 7.3: a redirect to a port that the application has just opened works', async () => {
      const visitor = await flow.visit();
      const native = await addApp(flow.pair, flow.callback, {
        redirectUri: 'http://127.0.0.1/callback',
        more: ['--native'],
      });
      const tokens = await flow.tokens(visitor, {}, native);
      expect(await flow.status(tokens)).toBe(200);
      expect(visitor.page.url()).toContain(flow.callback.uri);
    });

    test('control: these tests notice a violation of the policy', async () => {
      const { page } = await flow.visit();
      await page.goto((await flow.app.ask()).url);
      await page.evaluate(`new Promise((seen) => {
      addEventListener('securitypolicyviolation', () => seen());
      document.forms[0].action = 'http://elsewhere.invalid/';
      document.forms[0].submit();
    })`);
      expect(await flow.close()).toEqual([
        expect.stringContaining('Content Security Policy'),
        'policy: form-action refuses http://elsewhere.invalid/',
      ]);
    });
  });

  describe('pages that are outdated', () => {
    const uid = (page: Page) => new URL(page.url()).pathname.split('/')[2] ?? '';

    test('if the person signs out in another tab, Allow does nothing', async () => {
      const { page, person, context } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await signIn(page, person);
      await expect(title(page)).resolves.toBe('Allow access to Test app?');
      const other = await context.newPage();
      await other.goto(`${flow.pair.issuer}/sign-out`);
      await other.getByRole('button', { name: 'Sign out' }).click();
      await expect(title(other)).resolves.toBe('You are signed out');
      await decide(page, 'Allow');
      await expect(title(page)).resolves.toBe('This page is too old');
      expect(await flow.flow.stores.artefacts.listByAccount('Access', person.id)).toEqual([]);
    });

    test('a request with an unregistered redirect URI shows a page, and the back button leads to the client', async () => {
      const { page } = await flow.visit();
      await page.goto((await flow.app.ask({ redirect_uri: 'http://elsewhere.invalid/' })).url);
      await expect(title(page)).resolves.toBe('This request cannot be answered');
      await page.getByRole('link', { name: 'Back to the application' }).click();
      await page.waitForURL(`${flow.callback.origin}/`);
    });

    test.each<[string, (page: Page, context: BrowserContext) => Promise<void>]>([
      ['request', (page) => flow.flow.stores.artefacts.remove('Interaction', uid(page))],
      [
        'cookie of the request',
        (_page, context) => context.clearCookies({ name: 'countersign-interaction' }),
      ],
      [
        'cookie of the forms',
        (_page, context) => context.clearCookies({ name: 'countersign-csrf' }),
      ],
    ])(
      'without the %s no person is signed in, and the sign-in can start again',
      async (_what, remove) => {
        const { page, person, context } = await flow.visit();
        await page.goto((await flow.app.ask()).url);
        await remove(page, context);
        await signIn(page, person);
        await expect(title(page)).resolves.toBe('This page is too old');
        await page.getByRole('link', { name: 'Go to your account' }).click();
        await expect(title(page)).resolves.toBe('Sign in');

        const again = await flow.app.ask();
        await page.goto(again.url);
        await signIn(page, person);
        await decide(page, 'Allow');
        expect(await flow.status(await again.tokens())).toBe(200);
      },
    );

    test("an interaction's address that another browser copied shows nothing", async () => {
      const { page } = await flow.visit();
      await page.goto((await flow.app.ask()).url);
      const other = await flow.visit();
      await other.page.goto(page.url());
      await expect(title(other.page)).resolves.toBe('This page is too old');
      await expect(other.page.locator('form').count()).resolves.toBe(0);
    });

    test('after the back button the consent cannot be given again, and the code stays valid', async () => {
      const { page, person } = await flow.visit();
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await signIn(page, person);
      await page.waitForURL('**/interaction/*');
      await decide(page, 'Allow');
      await page.waitForURL(`${flow.callback.uri}**`);
      const tokens = await asked.tokens();
      await page.goBack();
      await expect(title(page)).resolves.toBe('The sign-in is done');
      expect(await flow.status(tokens)).toBe(200);
    });
  });

  describe('two tabs at once', () => {
    test('if both tabs ask and the person allows both, each gets its tokens, with one access', async () => {
      const { page, person, context } = await flow.visit();
      const other = await context.newPage();
      const [first, second] = [await flow.app.ask(), await flow.app.ask()];
      for (const [tab, asked] of [
        [page, first],
        [other, second],
      ] as const) {
        await tab.goto(asked.url);
      }
      for (const tab of [page, other]) {
        await signIn(tab, person);
        await expect(title(tab)).resolves.toBe('Allow access to Test app?');
      }
      for (const tab of [page, other]) {
        await decide(tab, 'Allow');
        await tab.waitForURL(`${flow.callback.uri}**`);
      }
      const tokens = [await first.tokens(), await second.tokens()];
      for (const one of tokens) {
        expect(await flow.status(await flow.app.refresh(String(one.refresh_token)))).toBe(200);
      }
      const grants = tokens.map(({ access_token: token }) => decodeJwt(token)['grant_id']);
      expect(new Set(grants).size).toBe(1);
    });

    test('"Allow" in both tabs at once gives each its tokens, and the person stays signed in', async () => {
      const { page, person, context } = await flow.visit();
      const other = await context.newPage();
      const first = await flow.app.ask();
      await page.goto(first.url);
      await signIn(page, person);
      await expect(title(page)).resolves.toBe('Allow access to Test app?');
      const second = await flow.app.ask({ prompt: 'consent' });
      await other.goto(second.url);
      await Promise.all(
        [page, other].map(async (tab) => {
          await decide(tab, 'Allow');
          await tab.waitForURL(`${flow.callback.uri}**`);
        }),
      );
      for (const asked of [first, second]) {
        expect(
          await flow.status(await flow.app.refresh(String((await asked.tokens()).refresh_token))),
        ).toBe(200);
      }
      await page.goto(`${flow.pair.issuer}/account`);
      await expect(title(page)).resolves.toBe('Your account');
    });

    test('after consent in one tab the other tab need not ask again', async () => {
      const { page, person, context } = await flow.visit();
      const other = await context.newPage();
      const [first, second] = [await flow.app.ask(), await flow.app.ask()];
      await page.goto(first.url);
      await other.goto(second.url);
      await signIn(page, person);
      await decide(page, 'Allow');
      await page.waitForURL(`${flow.callback.uri}**`);
      await signIn(other, person);
      const tokens = [await first.tokens(), await second.tokens()];
      expect(tokens.map((one) => decodeJwt(one.access_token).sub)).toEqual([person.id, person.id]);
    });
  });
});

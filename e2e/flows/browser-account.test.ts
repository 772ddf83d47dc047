import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { tabTo } from '../parts/browser.ts';
import type { Person } from '../pair/pair.ts';
import type { Tokens } from '../parts/relying-party.ts';
import { addApp, signIn, signInByKeyboard, startBrowserFlow, title } from './browser.fixture.ts';
import type { BrowserFlow } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';

/** A request for access that outlives the session (OpenID Connect Core 1.0 section 11). */
const OFFLINE = { scope: 'openid offline_access documents:read', prompt: 'consent' };

describe.each(ONE_STORE)(
  'on %s: a revoked session or grant is refused from the next request on',
  (kind) => {
    let flow: BrowserFlow;
    beforeAll(async () => {
      flow = await startBrowserFlow(kind);
    });
    afterEach(async () => {
      expect(await flow.close()).toEqual([]);
    });
    afterAll(async () => flow?.[Symbol.asyncDispose]());

    const openAccount = (page: Page) => page.goto(`${flow.pair.issuer}/account`);

    /** Tries the access token first, before the refresh request can change anything. */
    async function expectEnded(tokens: Tokens): Promise<void> {
      expect(await flow.status(tokens)).toBe(401);
      await expect(flow.app.refresh(String(tokens.refresh_token))).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    }

    async function expectSignedOut(page: Page): Promise<void> {
      await openAccount(page);
      await expect(title(page)).resolves.toBe('Sign in');
    }

    test("an application's access is revoked with all its tokens, and another application keeps its own", async () => {
      const visitor = await flow.visit();
      const { page } = visitor;
      const other = await addApp(flow.pair, flow.callback);
      const kept = await flow.tokens(visitor, OFFLINE, other);
      const tokens = await flow.tokens(visitor, OFFLINE);
      expect([await flow.status(tokens), await flow.status(kept)]).toEqual([200, 200]);

      await openAccount(page);
      const applications = page.getByRole('region', { name: 'Applications' });
      const end = applications.getByRole('button', {
        name: 'End the access of Test app',
        exact: true,
      });
      await expect(end.count()).resolves.toBe(2);
      // The latest access is listed first.
      await end.first().click();
      await page.getByRole('button', { name: 'End the access', exact: true }).click();
      await page.getByText('The application has no access any more').waitFor();
      await expectEnded(tokens);
      expect(await flow.status(kept)).toBe(200);

      const { url } = await flow.app.ask({ scope: 'openid documents:read' });
      await page.goto(url);
      await expect(title(page)).resolves.toBe('Allow access to Test app?');
    });

    test('the session of another browser is revoked with its grants', async () => {
      const there = await flow.visit();
      const tokens = await flow.tokens(there);
      const offline = await flow.tokens(there, OFFLINE, await addApp(flow.pair, flow.callback));
      const here = await flow.visit({ person: there.person });
      await openAccount(here.page);
      await signIn(here.page, here.person);

      const signIns = here.page.getByRole('region', { name: 'Where you are signed in' });
      const theirs = signIns.getByRole('listitem').filter({ hasNotText: 'This browser' });
      await theirs.getByRole('button', { name: 'End the sign-in' }).click();
      await here.page.getByRole('button', { name: 'End the sign-in', exact: true }).click();
      await here.page.getByText('That browser is signed out.').waitFor();
      await expectEnded(tokens);
      await expectSignedOut(there.page);
      expect(await flow.status(offline)).toBe(200);
      await openAccount(here.page);
      await expect(title(here.page)).resolves.toBe('Your account');
    });

    test('everything is revoked by keyboard alone: all browsers and applications, and a new sign-in works', async () => {
      const there = await flow.visit();
      const { person } = there;
      const tokens = await flow.tokens(there, OFFLINE);
      const { page } = await flow.visit({ person });
      await openAccount(page);
      await signInByKeyboard(page, person);
      await tabTo(page.getByRole('link', { name: 'End everything' }));
      await page.keyboard.press('Enter');
      await expect(title(page)).resolves.toBe('End everything?');
      await tabTo(page.getByRole('button', { name: 'End everything' }));
      await page.keyboard.press('Space');
      await page.getByText('Everything has ended').waitFor();
      await expectEnded(tokens);
      await expectSignedOut(there.page);
      await expectSignedOut(page);

      const again = { ...there, page };
      const renewed = await flow.tokens(again, OFFLINE);
      expect(await flow.status(renewed)).toBe(200);
      expect(await flow.status(tokens)).toBe(401);
    });

    test('sign-out by keyboard alone ends the session and its grants', async () => {
      const visitor = await flow.visit();
      const { page } = visitor;
      const tokens = await flow.tokens(visitor);
      await openAccount(page);
      await tabTo(page.getByRole('link', { name: 'Sign out' }));
      await page.keyboard.press('Enter');
      await tabTo(page.getByRole('button', { name: 'Sign out' }));
      await page.keyboard.press('Enter');
      await page.getByText('You are signed out').waitFor();
      await expectEnded(tokens);
      await expectSignedOut(page);
    });

    describe('the command line signs the browser out', () => {
      const NEW = 'a password that is new';

      async function expectSignsIn(page: Page, person: Person, password: string): Promise<void> {
        await signIn(page, { ...person, password });
        await expect(title(page)).resolves.toBe('Your account');
      }

      async function expectNotSignedIn(page: Page, person: Person): Promise<void> {
        await signIn(page, person);
        await page.getByRole('alert').getByText('Name or password is wrong.').waitFor();
      }

      test.each<
        [
          string,
          (person: Person) => Promise<unknown>,
          (page: Page, person: Person) => Promise<void>,
        ]
      >([
        [
          'user end',
          ({ name }) => flow.pair.cli('user', 'end', name),
          (page, person) => expectSignsIn(page, person, person.password),
        ],
        [
          'user passwd',
          ({ name }) => flow.pair.setPassword(name, NEW),
          async (page, person) => {
            await expectNotSignedIn(page, person);
            await expectSignsIn(page, person, NEW);
          },
        ],
        ['user disable', ({ name }) => flow.pair.cli('user', 'disable', name), expectNotSignedIn],
      ])('%s', async (_command, run, expectAfterwards) => {
        const visitor = await flow.visit();
        const { page, person } = visitor;
        const tokens = await flow.tokens(visitor, OFFLINE);
        expect(await flow.status(tokens)).toBe(200);
        await openAccount(page);
        await run(person);
        await expectEnded(tokens);
        // A page that was open meanwhile revokes nothing, and asks for a sign-in.
        await page.getByRole('button', { name: 'End the access of Test app', exact: true }).click();
        await expect(title(page)).resolves.toBe('Sign in');
        await expectSignedOut(page);
        await expectAfterwards(page, person);
      });
    });
  },
);

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { tabTo } from '../parts/browser.ts';
import { signIn, startBrowserFlow } from './browser.fixture.ts';
import type { BrowserFlow, Visitor } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';

describe.each(ONE_STORE)('on %s: a key instead of a password (HOBA, RFC 7486)', (kind) => {
  let flow: BrowserFlow;
  /** The console's lines about requests that must be refused. */
  const refusals: string[] = [];
  beforeAll(async () => {
    flow = await startBrowserFlow(kind);
  });
  afterEach(async () => {
    expect(await flow.close()).toEqual(refusals.splice(0));
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const somebody = (more = {}) => flow.visit({ ignoreHTTPSErrors: true, ...more });
  const page = () => `${flow.pair.resourceTls}/.well-known/hoba/key`;
  const space = () => `${flow.pair.resourceTls}/schemes/hoba/`;
  const button = (at: Page, name: string) => at.getByRole('button', { name });
  const known = (name: string) => ({
    scheme: 'HOBA',
    realm: 'hoba',
    principal: { kind: 'person', name },
  });

  /** The link on the account page. */
  async function linkOf(visitor: Visitor): Promise<string> {
    const account = await visitor.context.newPage();
    await account.goto(`${flow.pair.issuer}/account`);
    if (await account.getByLabel('Password').isVisible()) await signIn(account, visitor.person);
    await button(account, `Make a key for ${flow.pair.resourceTls}`).click();
    const link = account.getByRole('link', { name: flow.pair.resourceTls });
    const address = await link.getAttribute('href');
    await account.close();
    return address ?? '';
  }

  async function makeKey(at: Page, link: string, name: string): Promise<void> {
    await at.goto(link);
    await at.getByLabel('What do you call this device?').fill(name);
    await button(at, 'Make a key').click();
    await at.getByText(/is made and registered|did not work/).waitFor();
  }

  async function visit(at: Page): Promise<unknown> {
    await button(at, `Visit ${space()}`).click();
    await at.getByText(/Signed in|Not signed in/).waitFor();
    return JSON.parse(await at.getByLabel('Answer').innerText());
  }

  test('a person opens the link, makes a key, signs out and visits, and a removed key is refused at the next visit', async () => {
    const visitor = await somebody();
    const { name } = visitor.person;
    const link = await linkOf(visitor);
    const at = visitor.page;
    await makeKey(at, link, 'Laptop');
    // The secret does not stay in the history.
    expect(at.url()).toBe(page());
    expect(await at.locator('dd').first().innerText()).toBe(name);
    expect(await visit(at)).toEqual(known(name));
    await button(at, 'Sign out').click();
    await at.getByText('Signed out').waitFor();
    expect(await visit(at)).toEqual(known(name));
    await at.reload();
    await button(at, `Visit ${space()}`).waitFor(); // the script has found the key
    expect(await at.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(['Laptop']);
    expect(await visit(at)).toEqual(known(name));

    const account = await visitor.context.newPage();
    await account.goto(`${flow.pair.issuer}/account`);
    const keys = account.getByRole('region', { name: 'Keys' });
    expect(await keys.getByRole('listitem').innerText()).toContain('Laptop');
    await button(account, 'Remove the key of Laptop').click();
    await button(account, 'Remove the key').click();
    await account.getByText('The key is removed.').waitFor();
    await expect(keys.getByRole('listitem').count()).resolves.toBe(0);
    expect(await visit(at)).toMatchObject({ status: 401 });
    refusals.push(`401 ${space()}`);
  });

  test('by keyboard and on a phone: the person makes a key that no script can read', async () => {
    const visitor = await somebody({ width: 390, colorScheme: 'dark' });
    const at = visitor.page;
    await at.goto(await linkOf(visitor));
    await tabTo(at.getByLabel('What do you call this device?'));
    await at.keyboard.type('Phone');
    await at.keyboard.press('Enter');
    await at.getByText('is made and registered').waitFor();
    await at.evaluate(axe.source);
    const found = `axe.run({ resultTypes: ['violations'] }).then((all) =>
      all.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;
    expect(await at.evaluate(found)).toEqual([]);
    await tabTo(button(at, `Visit ${space()}`));
    await at.keyboard.press('Space');
    await at.getByText('Signed in.').waitFor();
    const [wide, kept] = await at.evaluate<[boolean, unknown]>(`(async () => {
      const database = await new Promise((resolve) => {
        const opening = indexedDB.open('hoba');
        opening.onsuccess = () => resolve(opening.result);
      });
      const { privateKey } = await new Promise((resolve) => {
        const asked = database.transaction('keys').objectStore('keys').get('key');
        asked.onsuccess = () => resolve(asked.result);
      });
      const exported = await crypto.subtle.exportKey('pkcs8', privateKey).catch(({ name }) => name);
      return [document.documentElement.scrollWidth > innerWidth, [privateKey.extractable, exported]];
    })()`);
    expect([wide, kept]).toEqual([false, [false, 'InvalidAccessError']]);
    await tabTo(button(at, 'Forget this key'));
    await at.keyboard.press('Enter');
    await at.getByText('has forgotten the key').waitFor();
    await at.reload();
    await at.getByText('This browser has no key here.').waitFor();
  });

  test('the link works in a tab that shows the page already', async () => {
    const visitor = await somebody();
    const at = visitor.page;
    await at.goto(page());
    await at.getByText('This browser has no key here.').waitFor();
    await makeKey(at, await linkOf(visitor), 'Laptop');
    expect(at.url()).toBe(page());
    expect(await visit(at)).toEqual(known(visitor.person.name));
  });

  test('a link makes one key, and a second visit makes none', async () => {
    const visitor = await somebody();
    const link = await linkOf(visitor);
    await makeKey(visitor.page, link, 'Mine');
    const thief = await somebody();
    await makeKey(thief.page, link, 'Theirs');
    expect(await thief.page.getByRole('status').innerText()).toContain('403');
    refusals.push(`403 ${flow.pair.resourceTls}/.well-known/hoba/register`);
    await thief.page.reload();
    await thief.page.getByText('This browser has no key here.').waitFor();
    expect(await visit(visitor.page)).toEqual(known(visitor.person.name));
  });
});

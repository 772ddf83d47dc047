import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { tabTo } from '../parts/browser.ts';
import { signIn, startBrowserFlow, title } from './browser.fixture.ts';
import type { BrowserFlow, Visitor } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';

describe.each(ONE_STORE)('on %s: a key instead of a password (HOBA, RFC 7486)', (kind) => {
  let flow: BrowserFlow;
  beforeAll(async () => {
    flow = await startBrowserFlow(kind);
  });
  afterEach(async () => {
    expect(await flow.close()).toEqual([]);
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const said = (page: Page) => page.getByRole('status').innerText();
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();

  /** The link of the account page. */
  async function linkOf({ page, person }: Visitor): Promise<string> {
    await page.goto(`${flow.pair.issuer}/account`);
    if (await page.getByLabel('Password').isVisible()) await signIn(page, person);
    await press(page, `Make a key for ${flow.pair.resourceTls}`);
    return (
      (await page.getByRole('link', { name: flow.pair.resourceTls }).getAttribute('href')) ?? ''
    );
  }

  async function makeKey(page: Page, link: string, name: string): Promise<void> {
    await page.goto(link);
    await page.getByLabel('What do you call this device?').fill(name);
    await press(page, 'Make a key');
    await page.getByText('The key is made and registered.').waitFor();
  }

  async function visit(page: Page): Promise<unknown> {
    await press(page, /Visit .*\/schemes\/hoba\//);
    await page.getByText(/Let in|Not let in/).waitFor();
    return JSON.parse(await page.getByLabel('Answer').innerText());
  }

  test('link, key, sign out, visit, removal', async () => {
    const visitor = await flow.visit({ ignoreHTTPSErrors: true });
    const { page, person } = visitor;
    const link = await linkOf(visitor);
    await makeKey(page, link, 'Laptop');
    expect(page.url()).toBe(`${flow.pair.resourceTls}/.well-known/hoba/key`);
    const known = {
      scheme: 'HOBA',
      realm: 'hoba',
      principal: { kind: 'person', name: person.name },
    };
    expect(await visit(page)).toEqual(known);
    await press(page, 'Sign out');
    await page.getByText('Signed out').waitFor();
    expect(await visit(page)).toEqual(known);
    await page.reload();
    expect(await visit(page)).toEqual(known);

    const account = await visitor.context.newPage();
    await account.goto(`${flow.pair.issuer}/account`);
    const keys = account.getByRole('region', { name: 'Keys' });
    expect(await keys.getByRole('listitem').innerText()).toContain('Laptop');
    await keys.getByRole('button', { name: 'End the key of Laptop' }).click();
    await account.getByText('The key is removed.').waitFor();
    expect(await visit(page)).toMatchObject({ status: 401 });
  });
});

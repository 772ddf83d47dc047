import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import {
  documentServer,
  type DocumentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { walkByTab } from '../parts/tab-order.ts';
import { virtualAuthenticator } from '../parts/virtual-authenticator.ts';
import { type BrowserFlow, signIn, startBrowserFlow } from './browser.fixture.ts';
import { ONE_STORE } from './flow.ts';

const run = promisify(execFile);

describe.each(ONE_STORE)('on %s: the day of an administrator in Chromium', (kind) => {
  const running = new AsyncDisposableStack();
  let flow: BrowserFlow;
  let site: DocumentServer;
  beforeAll(async () => {
    site = running.use(await documentServer());
    const trusted = join(running.use(await temporaryFolder()).path, 'site.pem');
    await writeFile(trusted, site.certificate);
    const env = { NODE_EXTRA_CA_CERTS: trusted };
    flow = running.use(await startBrowserFlow(kind, { issuerHost: 'localhost', env }));
  });
  afterAll(async () => running.disposeAsync());

  const at = (path: string) => `${flow.pair.issuer}/admin${path}`;
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first();

  /** Expects no accessibility fault, full keyboard use, and no page wider than a phone. */
  async function isFine(page: Page): Promise<void> {
    await page.evaluate(axe.source);
    const found = (await page.evaluate('axe.run()')) as { violations: { id: string }[] };
    expect([page.url(), found.violations.map(({ id }) => id)]).toEqual([page.url(), []]);
    const size = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 700 });
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    expect([page.url(), wide]).toEqual([page.url(), 390]);
    if (size) await page.setViewportSize(size);
    await walkByTab(page, page.url());
  }

  test('leads from a passkey to the activity log, and ends when the right to administer is removed', async () => {
    const admin = await flow.visit();
    const { page } = admin;
    await flow.pair.cli('user', 'set', admin.person.name, '--admin');
    await virtualAuthenticator(page);
    await page.addInitScript(
      'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
    );
    await page.goto(`${flow.pair.issuer}/account/passkeys`);
    await signIn(page, admin.person);
    await page.getByLabel('Name of the passkey').fill('Laptop');
    await page.keyboard.press('Enter');
    await page.getByText('The passkey is made.').waitFor();
    await page.goto(`${flow.pair.issuer}/sign-out`);
    await button(page, 'Sign out').click();
    await page.getByText('You are signed out').waitFor();
    await page.goto(`${flow.pair.issuer}/account`);
    await button(page, 'Use a passkey').click();
    await page.getByText(`You are ${admin.person.name}.`).waitFor();

    // The administrator finds a person and disables the account: the person's session ends.
    const other = await flow.visit();
    await other.page.goto(`${flow.pair.issuer}/account`);
    await signIn(other.page, other.person);
    await other.page.getByText(`You are ${other.person.name}.`).waitFor();
    await page.goto(at(''));
    await isFine(page);
    await page.getByLabel('Search people and applications').fill(other.person.name);
    await page.locator('#search-results').getByText(other.person.name).first().waitFor();
    await isFine(page);
    await page.locator('#search').press('Escape');
    await page.locator('#search-results').waitFor({ state: 'hidden' });
    await page.locator('#search').fill(other.person.name);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/admin\/search\?q=/);
    await isFine(page);
    await link(page, other.person.name).click();
    await page.getByText('Last seen').waitFor();
    await isFine(page);
    await link(page, `Disable ${other.person.name}`).click();
    await page.getByText('sessions, grants and tokens end').waitFor();
    await button(page, `Disable ${other.person.name}`).click();
    await page.getByText('The person is disabled.').waitFor();
    await other.page.reload();
    await other.page.getByLabel('Password').waitFor();

    // The administrator invites a person, whose link works.
    await page.goto(at('/user-invite?name=newcomer'));
    await button(page, 'Invite a person').click();
    const invited = await page.locator('dd code', { hasText: '/recover/' }).innerText();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy Link' }).click();
    await page.getByRole('button', { name: 'Copied Link' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(invited);
    await isFine(page);
    const { page: theirs } = await flow.visit();
    await theirs.goto(invited);
    await theirs.locator('input[type=password]').first().waitFor();

    // Registers a machine, whose secret is shown once. The lines for its developer get a token.
    await page.goto(at('/client-add'));
    await isFine(page);
    await page.locator('[name=resources]').waitFor({ state: 'hidden' });
    await page.getByText('More rights').focus();
    await page.keyboard.press('Enter');
    await page.locator('[name=resources]').waitFor();
    await isFine(page);
    await link(page, 'Machine').click();
    await page.getByLabel('Name of the client').fill('Nightly');
    await page.getByLabel('documents:read').check();
    await isFine(page);
    await button(page, 'Register').click();
    const fact = (name: string) =>
      page.locator(`dt:text-is("${name}") + dd code`).first().innerText();
    const secret = await fact('Secret');
    await page.getByRole('button', { name: 'Copy Lines for the developer' }).click();
    const lines = String(await page.evaluate('navigator.clipboard.readText()'));
    await isFine(page);
    await page.reload();
    expect(await page.content()).not.toContain(secret);
    const { stdout } = await run('bash', ['-c', `${lines} --silent --show-error`]);
    expect(JSON.parse(stdout)).toMatchObject({ scope: 'documents:read' });

    // The administrator adds a client by its document, after a document that is unusable.
    const described = `${site.origin}/notes.json`;
    await page.goto(at('/client-add'));
    await page.getByText('Client ID metadata document', { exact: true }).click();
    await page.locator('[name=document]').fill(described);
    await button(page, 'Register an application').click();
    await page.getByText('cannot be used').first().waitFor();
    expect(await page.locator('[name=document]').inputValue()).toBe(described);
    await isFine(page);
    site.documents.set('/notes.json', webDocument(described));
    await button(page, 'Register an application').click();
    expect(await fact('client_id')).toBe(described);
    await page.goto(at(`/client-show?client_id=${encodeURIComponent(described)}`));
    await page.getByText('Registered by an operator').waitFor();
    await isFine(page);
    expect(await flow.pair.cli('client', 'show', described)).toMatchObject({
      client_name: 'Notes',
    });

    // The administrator adds a signing key, and finds all changes in the activity log.
    await page.goto(at('/signing-keys-list'));
    await isFine(page);
    await link(page, 'Replace').click();
    await button(page, 'Replace a signing key').click();
    await page.getByText('The signing key is replaced.').waitFor();
    for (const [event, words] of [
      ['person.disabled', 'Person disabled'],
      ['client.added', 'Client registered'],
      ['signing-key.added', 'Signing key added'],
    ] as const) {
      await page.goto(at(`/audit-list?kind=${event}&since=1h`));
      await page.locator('summary', { hasText: words }).first().click();
      await page.getByText('Interface', { exact: true }).first().waitFor();
      await isFine(page);
    }
    await page.goto(at('/server-status'));
    for (const server of ['authz', 'resource']) {
      await page.locator('td', { hasText: server }).first().waitFor();
    }
    await isFine(page);

    // Every read-only page, in German and in dark mode.
    await page.emulateMedia({ colorScheme: 'dark' });
    const userAgent = String(await page.evaluate('navigator.userAgent'));
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: 'de' });
    for (const path of ['', '/user-list', '/client-list', '/realm-list', '/cache-stats']) {
      await page.goto(at(path));
      expect(await page.locator('html').getAttribute('lang')).toBe('de');
      await isFine(page);
    }

    // Without the right, an open page does nothing, and every address is unknown.
    await page.goto(at('/user-disable?name=newcomer'));
    await flow.pair.cli('user', 'set', admin.person.name, '--without', 'admin');
    const [refused] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.locator('main form button').first().click(),
    ]);
    expect(refused.status()).toBe(404);
    expect((await page.goto(at('')))?.status()).toBe(404);
    expect(await flow.pair.cli('user', 'show', 'newcomer')).toMatchObject({ disabled: false });
  });
});

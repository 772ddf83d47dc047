import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { freePort } from '../parts/free-port.ts';
import { launchBrowser } from '../parts/browser.ts';
import { type Pair, type Person, startPair } from '../pair/pair.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

const parts = new AsyncDisposableStack();
/** The pair at which people have their accounts. */
let corp: Pair;
/** The pair that they want to use. */
let here: Pair;
let browser: Browser;
let carol: Person;

beforeAll(async () => {
  browser = await launchBrowser();
  parts.defer(() => browser.close());
  const port = await freePort();
  corp = parts.use(await startPair());
  carol = await corp.addPerson('carol');
  const profile = ['--display-name', 'Carol', '--email', 'carol@corp.example,verified'];
  await corp.cli('user', 'set', 'carol', ...profile, '--group', 'engineering');
  // Browsers share cookies between ports, so the pairs have different hosts.
  const base = `http://localhost:${port}/sign-in/with/corp`;
  const flow = ['--grant', 'authorization_code', '--redirect-uri', `${base}/callback`];
  const scope = ['--scope', 'openid profile email groups', '--logout-url', `${base}/logout`];
  const added = await corp.cli('client', 'add', '--name', 'Here', ...flow, ...scope);
  const secret = join(parts.use(await temporaryFolder()).path, 'corp.secret');
  await writeFile(secret, `${String(added['client_secret'])}\n`);
  const source = {
    name: 'corp',
    title: 'Example Corp',
    newcomers: 'created',
    emails: { verifiedFor: ['corp.example'] },
    groups: { map: { engineering: 'staff' } },
    provider: {
      issuer: corp.issuer,
      clientId: added['client_id'],
      clientSecretFile: secret,
      scopes: ['openid', 'profile', 'email', 'groups'],
    },
  };
  here = parts.use(
    await startPair({ issuerHost: 'localhost', issuerPort: port, settings: { sources: [source] } }),
  );
});
afterAll(async () => parts.disposeAsync());

const text = (page: Page) => page.innerText('main');

async function signInThere(page: Page): Promise<void> {
  await page.goto(`${here.issuer}/account`);
  await page.click('text=Sign in with Example Corp');
  await page.fill('#name', carol.name);
  await page.fill('#password', carol.password);
  await page.click('button.primary');
  await page.click('button:has-text("Allow")');
  await page.waitForURL(`${here.issuer}/account`);
}

test('a person of another Countersign signs in here, and a sign-out there ends it here', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signInThere(page);
  expect(await text(page)).toContain('You are carol');
  expect(await here.cli('user', 'show', 'carol')).toMatchObject({
    display_name: 'Carol',
    emails: [{ address: 'carol@corp.example', verified: true }],
    groups: ['staff'],
    came_from: { source: 'corp', subject: carol.id },
    passwordless: true,
  });
  const there = await context.newPage();
  await there.goto(`${corp.issuer}/sign-out`);
  await there.click('main button:has-text("Sign out")');
  await eventually(async () => {
    await page.goto(`${here.issuer}/account`);
    expect(await text(page)).toContain('Sign in with Example Corp');
  });
  await context.close();
});

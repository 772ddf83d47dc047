import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { launchBrowser } from '../parts/browser.ts';
import { startKdc } from '../parts/kdc.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';

/** Negotiate in Chromium, which sends tickets only to the sites of its policy. */
const parts = new AsyncDisposableStack();
let pair: Pair;
let alice: NodeJS.ProcessEnv;

beforeAll(async () => {
  const kdc = parts.use(await startKdc({ services: ['HTTP/localhost'] }));
  pair = parts.use(await startPair({ settings: { negotiate: { keytab: kdc.keytab } } }));
  await pair.addPerson('alice');
  await pair.cli('user', 'kerberos', 'alice', 'alice@EXAMPLE.COM');
  alice = await kdc.signIn('alice@EXAMPLE.COM');
});
afterAll(() => parts.disposeAsync());

const url = () => `${pair.resource.replace('127.0.0.1', 'localhost')}/schemes/negotiate/`;

const browserOf = (env: NodeJS.ProcessEnv, allowed: string) =>
  launchBrowser({
    env,
    args: ['--disable-auth-negotiate-cname-lookup', `--auth-server-allowlist=${allowed}`],
  });

test('a person with a ticket sees the page, also on a kept connection', async () => {
  await using browser = await browserOf(alice, 'localhost');
  const page = await browser.newPage();
  // The first navigation of a profile fails while Chromium loads its GSS library.
  await page.goto(url()).catch(() => undefined);
  for (let time = 0; time < 2; time += 1) {
    const response = await page.goto(url());
    expect(response?.status()).toBe(200);
    expect(await response?.json()).toMatchObject({ principal: { kind: 'person', name: 'alice' } });
  }
});

test("a site that the browser's policy does not name gets no ticket", async () => {
  await using browser = await browserOf(alice, 'intranet.example');
  const page = await browser.newPage();
  const statuses: (number | undefined)[] = [];
  for (let time = 0; time < 2; time += 1) {
    const response = await page.goto(url()).catch(() => null);
    statuses.push(response?.status());
  }
  expect(statuses).toEqual([401, 401]);
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { withSecondFactor } from '../../authz-server/integration/second-factor.fixture.ts';
import type { Person } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { type BrowserFlow, signIn, startBrowserFlow } from './browser.fixture.ts';
import { askByGnap } from './gnap-in-browser.ts';
import { addDevice, post } from './person.ts';

/**
 * On a slow line people press a button twice. Chromium then cancels the first navigation and loses its
 * answer.
 */
let flow: BrowserFlow;
beforeAll(async () => {
  flow = await startBrowserFlow('sqlite', {
    issuerHost: 'localhost',
    settings: { gnap: { clients: 'anybody' }, device: { interval: 1 } },
  });
});
afterEach(async () => {
  expect(await flow.close()).toEqual([]);
});
afterAll(async () => flow?.[Symbol.asyncDispose]());

/** The delay of each answer in milliseconds, as with a satellite. */
const LATENCY = 700;

async function slowDown(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
}

/**
 * Presses a button, and presses again after `meanwhile`. Uses the mouse, because a click by Playwright
 * would wait.
 */
async function pressTwice(
  page: Page,
  name: string,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const button = page.getByRole('button', { name, exact: true });
  await button.scrollIntoViewIfNeeded();
  const box = await button.boundingBox();
  if (box === null) throw new Error(`no button ${name}`);
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url());
  });
  await press();
  await meanwhile();
  await press();
  await until(() => sent.length === 2);
  page.removeAllListeners('request');
}

async function signInsOf({ id }: Person): Promise<number> {
  const { stores, config } = flow.flow;
  const store = { stores, clock: systemClock, longestLife: longestLife(config) };
  return (await listSignIns(store, id)).length;
}

/** Resolves once the store has the result of the page's request, before the browser gets the answer. */
async function written(page: Page, what: 'result' | 'answer'): Promise<void> {
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { artefacts } = flow.flow.stores;
  await until(async () => (await artefacts.get('Interaction', id))?.[what] !== undefined);
}

describe.each([
  { how: 'with script', script: true },
  { how: 'without script', script: false },
])('in Chromium $how, at 700 ms of latency', ({ script }) => {
  test.each([
    { when: 'while the redirect comes', what: 'result' },
    { when: 'while the answer comes', what: 'answer' },
  ] as const)(
    'Sign in and Allow, each pressed again $when: the client gets its tokens',
    async ({ what }) => {
      const { page, person } = await flow.visit({ script });
      const asked = await flow.app.ask();
      await page.goto(asked.url);
      await slowDown(page);
      await page.getByLabel('Name').fill(person.name);
      await page.getByLabel('Password').fill(person.password);
      await pressTwice(page, 'Sign in', () => written(page, what));
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      await pressTwice(page, 'Allow', () => written(page, what));
      await page.waitForURL(`${flow.callback.origin}/**`);
      expect(await flow.status(await asked.tokens())).toBe(200);
      await page.goBack();
      expect(await page.locator('h1').innerText()).toBe('The sign-in is done');
    },
  );

  test('the code of a second step, pressed twice for the account page, gives one session', async () => {
    const { page, person } = await flow.visit({ script });
    const { config, stores } = flow.flow;
    const master = await readMasterSecret(config, flow.pair.env);
    const server = { stores, master, clock: systemClock, random: systemRandom };
    const { code } = await withSecondFactor(server, person.name);
    await page.goto(`${flow.pair.issuer}/account`);
    await signIn(page, person);
    await page.getByRole('textbox').first().fill(code());
    await slowDown(page);
    await pressTwice(page, 'Continue', () => until(async () => (await signInsOf(person)) === 1));
    await page.waitForURL('**/account');
    expect(await signInsOf(person)).toBe(1);
  });

  test('Allow for a device, pressed again after the device has its tokens, shows it as connected', async () => {
    const { page, person } = await flow.visit({ script });
    const client = await addDevice(flow.flow);
    const { body: device } = await post(flow.flow, '/device/auth', { client_id: client });
    const userCode = String(device['user_code']).replace('-', '');
    await page.goto(`${flow.pair.issuer}/device?user_code=${userCode}`);
    await signIn(page, person);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await slowDown(page);
    const poll = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: client,
      device_code: String(device['device_code']),
    };
    const { artefacts } = flow.flow.stores;
    const isDecided = async () =>
      (await artefacts.getByUserCode('DeviceCode', userCode))?.['accountId'] !== undefined;
    await pressTwice(page, 'Allow', async () => {
      await until(isDecided);
      expect((await post(flow.flow, '/token', poll)).status).toBe(200);
    });
    await page.getByRole('heading', { name: 'Your device is connected' }).waitFor();
  });

  test('Allow for a GNAP client, pressed twice, gives the client its reference', async () => {
    const { page, person } = await flow.visit({ script });
    const state = randomUUID();
    await page.goto(await askByGnap(flow.pair.issuer, `${flow.callback.uri}?state=${state}`));
    const uid = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await signIn(page, person);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await slowDown(page);
    const { artefacts } = flow.flow.stores;
    const isDecided = async () =>
      (await artefacts.getByUid('GnapRequest', uid))?.['decision'] !== undefined;
    await pressTwice(page, 'Allow', () => until(isDecided));
    const { searchParams } = new URL((await flow.callback.answer(state)).url);
    expect(searchParams.get('interact_ref')).toBeTruthy();
  });

  test('a password change, pressed twice, is confirmed, and the browser stays signed in', async () => {
    const { page, person } = await flow.visit({ script });
    await page.goto(`${flow.pair.issuer}/account/password`);
    await signIn(page, person);
    await page.getByLabel('Old password').fill(person.password);
    await page.getByLabel('New password', { exact: true }).fill('a very different horse');
    await slowDown(page);
    const { people } = flow.flow.stores;
    const before = (await people.get(person.id))?.password_hash;
    const isChanged = async () => (await people.get(person.id))?.password_hash !== before;
    await pressTwice(page, 'Change password', () => until(isChanged));
    await page.waitForURL('**/account?done=*');
    await page.getByRole('link', { name: 'Sign out' }).waitFor();
  });
});

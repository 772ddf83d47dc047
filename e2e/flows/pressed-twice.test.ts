import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { until } from '../parts/process.ts';
import { type BrowserFlow, startBrowserFlow } from './browser.fixture.ts';

/** On a slow line people press again. Chromium then gives up the first navigation, and with it the answer. */
let flow: BrowserFlow;
beforeAll(async () => {
  flow = await startBrowserFlow('sqlite', { issuerHost: 'localhost' });
});
afterEach(async () => {
  expect(await flow.close()).toEqual([]);
});
afterAll(async () => flow?.[Symbol.asyncDispose]());

/** Milliseconds of each answer, as on a satellite. */
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

/** Presses, and once more when `meanwhile` has happened; by the mouse, since nothing waits for that. */
async function pressTwice(
  page: Page,
  name: string,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const box = await page.getByRole('button', { name, exact: true }).boundingBox();
  if (box === null) throw new Error(`no button ${name}`);
  const press = () => page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(request.url());
  });
  await press();
  await meanwhile();
  await press();
  await until(() => sent.length === 2, 10_000);
  page.removeAllListeners('request');
}

/** Resolves once the store has that of the request that the page is for; the browser gets to know of it later. */
async function written(page: Page, what: 'result' | 'answer'): Promise<void> {
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { artefacts } = flow.flow.stores;
  await until(async () => (await artefacts.get('Interaction', id))?.[what] !== undefined, 10_000);
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
});

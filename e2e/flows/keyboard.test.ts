import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { send } from '#shared/server/message/answer.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { SAMPLES, sampleView } from '../../authz-server/pages/views/samples.fixture.ts';
import { launchBrowser } from '../parts/browser.ts';
import { walkByTab } from '../parts/tab-order.ts';
import { PAGES } from './sample-pages.ts';

let server: Server;
let browser: Browser;
let url: string;

beforeAll(async () => {
  browser = await launchBrowser();
  server = createServer((request, response) => {
    const [, language = 'en', name = ''] = (request.url ?? '').split('/');
    const page = PAGES[name]?.(sampleView(language === 'de' ? 'de' : 'en'));
    send(request, response, page ?? { status: 404, fields: {} });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await browser.close();
  server.close();
});

test.each(LANGUAGES)(
  'Tab reaches each control of every page once, in order and visibly, and leaves the page (WCAG 2.1.1, 2.1.2, 2.4.3, 2.4.7): %s',
  async (language) => {
    const page = await browser.newPage();
    for (const name of Object.keys(PAGES)) {
      await page.goto(`${url}/${language}/${name}`);
      await walkByTab(page, name);
    }
    await page.close();
  },
);

test('Enter in the first field presses the primary button of its form', async () => {
  const page = await browser.newPage();
  const tried: string[] = [];
  for (const name of Object.keys(SAMPLES)) {
    await page.goto(`${url}/en/${name}`);
    const form = page
      .locator(
        'form:has(button.primary):has(input:is([type=text], [type=email], [type=password], [inputmode], :not([type])))',
      )
      .first();
    if ((await form.count()) === 0) continue;
    tried.push(name);
    const expected = await form.locator('button.primary').first().innerText();
    // To submit a form, a browser clicks its submit button; the passkey script does the same with its own
    // button.
    await page.evaluate(`{
      addEventListener('click', (event) => {
        document.title = event.target.innerText;
        event.preventDefault();
        event.stopImmediatePropagation();
      }, true);
      for (const one of document.forms) {
        one.noValidate = true;
        one.addEventListener('submit', (event) => event.preventDefault());
      }
    }`);
    await form
      .locator('input:not([type=hidden], [type=checkbox], [type=radio])')
      .first()
      .press('Enter');
    expect([name, await page.title()]).toEqual([name, expected]);
  }
  expect(tried).toEqual(expect.arrayContaining(['sign-in', 'second-step', 'change-password']));
  await page.close();
});

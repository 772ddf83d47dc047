import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { send } from '#shared/server/message/answer.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { SAMPLES, sampleView } from '../../authz-server/pages/views/samples.fixture.ts';
import { launchBrowser } from '../parts/browser.ts';

let server: Server;
let browser: Browser;
let url: string;

beforeAll(async () => {
  browser = await launchBrowser();
  server = createServer((request, response) => {
    const [, language = 'en', name = ''] = (request.url ?? '').split('/');
    const page = SAMPLES[name]?.(sampleView(language === 'de' ? 'de' : 'en'));
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

/** A place where Tab stops: the number of its control, and whether a reader sees that it has the focus. */
interface Stop {
  readonly at: number;
  readonly isVisible: boolean;
}

/** Numbers the controls that Tab must reach. Of radio buttons with one name it reaches one. Resolves to their count. */
const number = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    document.activeElement.blur();
    const radios = new Set();
    const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
      .filter((one) => !one.disabled && one.type !== 'hidden' && one.checkVisibility())
      .filter((one) => {
        if (one.type !== 'radio') return true;
        if (radios.has(one.name)) return false;
        const chosen = document.querySelector('input[type=radio]:checked[name="' + one.name + '"]');
        if (chosen && chosen !== one) return false;
        return radios.add(one.name);
      });
    controls.forEach((one, at) => { one.dataset.at = String(at); });
    // From the top of the page, whatever has the focus first.
    document.body.tabIndex = -1;
    document.body.focus();
    return controls.length;
  })()`);

/** Looks at what has the focus. Undefined: nothing of the page has it. */
const stop = (page: Page): Promise<Stop | undefined> =>
  page.evaluate(`(() => {
    const one = document.activeElement;
    if (one === null || one === document.body) return undefined;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const { width, height } = one.getBoundingClientRect();
    const isVisible = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && width > 0 && height > 0;
    return { at: Number(one.dataset.at ?? -1), isVisible };
  })()`);

test.each(LANGUAGES)(
  'Tab reaches each control of every page once, in order and visibly, and leaves the page (WCAG 2.1.1, 2.1.2, 2.4.3, 2.4.7): %s',
  async (language) => {
    const page = await browser.newPage();
    for (const name of Object.keys(SAMPLES)) {
      await page.goto(`${url}/${language}/${name}`);
      const count = await number(page);
      const stops: (Stop | undefined)[] = [];
      for (let step = 0; step <= count; step += 1) {
        await page.keyboard.press('Tab');
        stops.push(await stop(page));
      }
      const expected = Array.from({ length: count }, (_, at) => ({ at, isVisible: true }));
      // After the last control the focus leaves the page, or comes to the first one again.
      expect([name, stops.slice(0, count)]).toEqual([name, expected]);
      expect([name, stops[count]?.at ?? 0]).toEqual([name, 0]);
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
    // A browser clicks the button by which it sends a form; the script of passkeys does so with its own.
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

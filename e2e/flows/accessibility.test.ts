import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { send } from '#shared/server/message/answer.ts';
import type { Answer } from '#shared/http/answer.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import type { Language, View } from '../../authz-server/pages/frame/view.ts';
import { sampleView } from '../../authz-server/pages/views/samples.fixture.ts';
import { launchBrowser } from '../parts/browser.ts';
import { PAGES } from './sample-pages.ts';

const LOGO: Answer = {
  status: 200,
  fields: { 'Content-Type': 'image/svg+xml' },
  body: '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><circle r="16" cx="16" cy="16"/></svg>',
};

let server: Server;
let browser: Browser;
let url: string;
/** The data with which the pages are rendered, besides the language. */
let more: Partial<View> = {};

beforeAll(async () => {
  browser = await launchBrowser();
  server = createServer((request, response) => {
    const [, language = 'en', name = ''] = (request.url ?? '').split('/');
    const page = PAGES[name]?.(sampleView(language === 'de' ? 'de' : 'en', more));
    send(request, response, page ?? (language === 'logo' ? LOGO : { status: 404, fields: {} }));
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

/** Opens every page as it was sent, with its policy. A violation of the policy fails the test. */
async function onEveryPage(
  page: Page,
  languages: readonly Language[],
  look: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  const refused: string[] = [];
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) refused.push(message.text());
  });
  for (const language of languages) {
    for (const name of Object.keys(PAGES)) {
      await page.goto(`${url}/${language}/${name}`);
      await look(page, `${language} ${name}`);
    }
  }
  await page.close();
  expect(refused).toEqual([]);
}

/** A page that loads axe-core into each document. */
async function newPageWithAxe(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options);
  await page.addInitScript(axe.source);
  return page;
}

/**
 * Returns axe-core's findings in short form, or with `rule` only the findings of that rule. Passed checks
 * stay in the browser.
 */
function findings(page: Page, rule?: string): Promise<readonly string[]> {
  const options = { resultTypes: ['violations'], ...(rule && { runOnly: [rule] }) };
  return page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
}

test.each(LANGUAGES)(
  'axe-core finds no fault on any page in %s, light or dark',
  async (language) => {
    const auditor = await newPageWithAxe({ colorScheme: 'light' });
    await onEveryPage(auditor, [language], async (page, name) => {
      expect([name, await findings(page)]).toEqual([name, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([name, await findings(page, 'color-contrast')]).toEqual([name, []]);
      await page.emulateMedia({ colorScheme: 'light' });
    });
  },
);

test('axe-core finds a fault that the test plants', async () => {
  const page = await newPageWithAxe({ colorScheme: 'dark' });
  await page.goto(`${url}/en/sign-in`);
  await page.evaluate(`{
    document.querySelector('label').remove();
    document.querySelector('h1').style.color = '#333';
  }`);
  const rules = (await findings(page)).map((finding) => finding.split(':')[0]);
  expect(new Set(rules)).toEqual(new Set(['color-contrast', 'label']));
  await page.close();
});

test.each(['#ffffff', '#000000', '#ffd400', '#00ff00', '#7f7f7f'])(
  'all texts are readable with the colour %s, light and dark',
  async (color) => {
    more = { brand: { name: 'Operator', color } };
    const page = await newPageWithAxe();
    for (const name of ['consent', 'account', 'signedOut', 'listing']) {
      await page.goto(`${url}/en/${name}`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect([name, await findings(page, 'color-contrast')]).toEqual([name, []]);
      }
    }
    await page.close();
    more = {};
  },
);

test('at a width of 320 px (1280 px at 400 %) no page scrolls sideways', async () => {
  const name = 'W'.repeat(60);
  more = { brand: { name, color: '#1f5fbf' }, person: 'w'.repeat(64) };
  const narrow = await browser.newPage({ viewport: { width: 320, height: 640 } });
  await onEveryPage(narrow, LANGUAGES, async (page, where) => {
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect([where, width]).toEqual([where, 320]);
  });
  more = {};
});

test('the policy permits the style and the logo', async () => {
  more = { brand: { name: 'Operator', color: '#1f5fbf', logo: '/logo' } };
  await onEveryPage(await browser.newPage(), ['en'], async (page, name) => {
    const seen = await page.evaluate(`[
      getComputedStyle(document.body).display, document.querySelector('.brand img').naturalWidth,
    ]`);
    expect([name, seen]).toEqual([name, ['flex', 32]]);
  });
  more = {};
});

test('a client logo that does not load leaves no gap above the title', async () => {
  const page = await browser.newPage();
  const titleAt = async (name: string) => {
    await page.goto(`${url}/en/${name}`, { waitUntil: 'load' });
    return page.evaluate<number>("document.querySelector('h1').getBoundingClientRect().top");
  };
  const without = await titleAt('sign-in');
  await page.route('https://pictures.example/**', (route) => route.abort());
  expect(await titleAt('sign-in-logo')).toBe(without);
  await page.unrouteAll();
  await page.route('https://pictures.example/**', (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: String(LOGO.body) }),
  );
  // The logo is three rem high, and the space below it one rem.
  expect(await titleAt('sign-in-logo')).toBe(without + 64);
  await page.close();
});

test("a person's picture fills a disc, which stays empty if the picture does not load", async () => {
  const page = await browser.newPage();
  const size = async (what: string) => {
    await page.goto(`${url}/en/account`, { waitUntil: 'load' });
    const { width, height } = (await page.locator(what).boundingBox()) ?? {};
    return { width, height };
  };
  await page.route('https://pictures.example/**', (route) => route.abort());
  expect(await size('.portrait')).toEqual({ width: 64, height: 64 });
  // A broken picture would have a height.
  expect(await size('.portrait img')).toMatchObject({ height: 0 });
  await page.unrouteAll();
  const narrow = String(LOGO.body).replace('width="32"', 'width="16"');
  await page.route('https://pictures.example/**', (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: narrow }),
  );
  expect(await size('.portrait img')).toEqual({ width: 64, height: 64 });
  await page.close();
});

test('a small button of a form is as wide as its text', async () => {
  const page = await browser.newPage();
  await page.goto(`${url}/en/account`);
  const button = page.getByRole('button', { name: /^Make a key for/ }).first();
  const [own, whole] = await Promise.all([
    button.boundingBox(),
    button.locator('xpath=ancestor::section').boundingBox(),
  ]);
  expect(own?.width).toBeLessThan((whole?.width ?? 0) * 0.8);
  await page.close();
});

test('a person who prefers less motion or more contrast gets it', async () => {
  const context = await browser.newContext({ reducedMotion: 'reduce', contrast: 'more' });
  const page = await context.newPage();
  await page.goto(`${url}/en/consent`);
  const seen = await page.evaluate(`[
    getComputedStyle(document.querySelector('.button')).transitionProperty,
    getComputedStyle(document.querySelector('legend')).color === getComputedStyle(document.body).color,
  ]`);
  expect(seen).toEqual(['none', true]);
  await context.close();
});

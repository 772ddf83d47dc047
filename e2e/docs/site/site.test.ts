/** @needs chromium-headless-shell */
/** @slow */
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path/posix';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { complaintsOf, launchBrowser, newPerson, type PersonOptions } from '../../parts/browser.ts';
import { siteServer } from './serve.ts';
import { site } from './site.ts';

const SITE = site();
const PAGES = [...SITE.keys()].filter((path) => path.endsWith('.html'));
const server = siteServer(SITE);
let browser: Browser;
let top: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  top = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  server.close();
});

/** Opens a browser, and expects that no page in it complained. */
async function inBrowser(
  options: PersonOptions,
  look: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await newPerson(browser, options);
  const complaints = await complaintsOf(context);
  await look(await context.newPage());
  await context.close();
  expect(complaints).toEqual([]);
}

const html = (path: string) => String(SITE.get(path));
const idsOf = (path: string) => [...html(path).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

describe('the files of the site', () => {
  test('README.md and every page of docs/ are there, and each has one title', () => {
    expect(PAGES).toEqual(expect.arrayContaining(['index.html', 'docs/index.html']));
    expect(PAGES.length).toBeGreaterThan(100);
    const titles = PAGES.map((path) => [path, html(path).match(/<h1 /g)?.length]);
    expect(titles).toEqual(PAGES.map((path) => [path, 1]));
  });

  test('every link leads to a file of the site, and every anchor to a heading there', () => {
    const dead = PAGES.flatMap((page) =>
      [...html(page).matchAll(/(?:href|src)="([^"]*)"/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^(?:https?|mailto):/.test(target))
        .filter((target) => {
          const [path = '', anchor] = target.split('#');
          const file = path === '' ? page : join(dirname(page), path);
          if (!SITE.has(file)) return true;
          return anchor !== undefined && !idsOf(file).includes(decodeURIComponent(anchor));
        })
        .map((target) => `${page}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test('no page loads a script, a style or a picture from elsewhere', () => {
    const foreign = /<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?\/\//;
    expect(PAGES.filter((page) => foreign.test(html(page)))).toEqual([]);
    expect(PAGES.filter((page) => /<script>| style=| on\w+="/.test(html(page)))).toEqual([]);
  });

  test('the navigation links to every page of docs/', () => {
    const [navigation = ''] = /<nav .*<\/nav>/s.exec(html('index.html')) ?? [];
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/index.html');
    expect(pages.filter((page) => !navigation.includes(`href="${page}"`))).toEqual([]);
  });
});

describe('the server of the site', () => {
  test('answers pages by a policy that permits nothing from elsewhere', async () => {
    const answer = await fetch(`${top}docs/`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame/);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('answers 404 for a file outside the site, and 405 for other methods', async () => {
    expect((await fetch(`${top}%2e%2e/package.json`)).status).toBe(404);
    expect((await fetch(top, { method: 'POST' })).status).toBe(405);
  });
});

test('the search finds a section by its words, and the keyboard opens it', async () => {
  await inBrowser({}, async (page) => {
    await page.goto(`${top}docs/how-to/watch.html`);
    await page.keyboard.press('/');
    await page.keyboard.type('master secret leaked');
    await page.locator('#results a').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${top}docs/how-to/keys.html#*`);
    await page.getByRole('searchbox').fill('xylophone');
    await page.getByText('0 results').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('0 results').waitFor({ state: 'hidden' });
  });
});

test.each(['log', 'scope', 'cache', 'prompt=consent', '--jwks', 'a+b\\'])(
  'the search for %s shows whole words first, and the changelog last',
  async (word) => {
    await inBrowser({}, async (page) => {
      await page.goto(top);
      await page.keyboard.press('/');
      await page.keyboard.type(word);
      await page.getByText(/^\d+ results?/).waitFor({ state: 'attached' });
      const found = page.locator('#results a');
      const links = await found.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      const isLog = links.map((link) => link?.includes('/CHANGELOG.html') === true);
      expect(isLog).toEqual(isLog.toSorted((a, b) => Number(a) - Number(b)));
      const [first = ''] = await found.evaluateAll((all) =>
        all.map(({ children }) => [...children].map((part) => part.textContent).join(' ')),
      );
      if (/^\w+$/.test(word)) expect(first).toMatch(new RegExp(`\\b${word}\\b`, 'i'));
    });
  },
);

test('without script the navigation works, and no search is shown', async () => {
  await inBrowser({ script: false }, async (page) => {
    await page.goto(`${top}docs/index.html`);
    expect(await page.getByRole('searchbox').isVisible()).toBe(false);
    const navigation = page.getByRole('navigation');
    await navigation.getByText('Understand').click();
    await navigation.getByRole('link', { name: 'Clocks' }).click();
    await page.waitForURL(`${top}docs/explanation/clocks.html`);
    expect(await navigation.locator('[aria-current=page]').textContent()).toBe('Clocks');
  });
});

/** Pages of each kind: text, lists, code, pictures, wide tables, a long table of contents. */
const KINDS = [
  'index.html',
  'docs/index.html',
  'docs/tutorials/first-ten-minutes.html',
  'docs/how-to/production-nginx.html',
  'docs/reference/standards.html',
  'docs/explanation/revocation.html',
];

test.each<PersonOptions>([
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
])('axe-core finds no fault in a browser with %j', async (options) => {
  await inBrowser(options, async (page) => {
    await page.addInitScript(axe.source);
    for (const path of KINDS) {
      await page.goto(top + path);
      const findings = await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(
        ({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`);
      expect([path, findings]).toEqual([path, []]);
    }
  });
});

test('at a width of 320 px no page scrolls sideways', async () => {
  await inBrowser({ width: 320, script: false }, async (page) => {
    for (const path of PAGES) {
      await page.goto(top + path);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect([path, width]).toEqual([path, 320]);
    }
  });
});

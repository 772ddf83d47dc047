import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { textsOf } from '../../pages/texts/index.ts';
import { PASSWORD, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/** Matches a script that is not one of ours; each of ours is allowed by its hash. */
const SCRIPT = /<script(?! type="module">)/;
const ALICE = { name: 'alice', password: PASSWORD };

describe('every page', () => {
  test.each(['/', '/account', '/device', '/sign-out', '/interaction/x', '/logo'])(
    'the page %s has only our own script, is never framed, and has the same fields for HEAD',
    async (path) => {
      const browser = site.browser();
      const get = await browser.open(path);
      const policy = get.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|script-src (?!'sha256-[\w+/=]+';)/);
      expect(get.headers.get('x-frame-options')).toBe('DENY');
      expect(get.headers.get('x-content-type-options')).toBe('nosniff');
      expect(get.text).not.toMatch(SCRIPT);
      const head = await browser.request('HEAD', path);
      expect(head.text).toBe('');
      expect(head.status).toBe(get.status);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    },
  );

  test.each([
    ['de', 'de'],
    ['fr, de;q=0.5, en;q=0.4', 'de'],
    ['', 'en'],
  ])('with Accept-Language %j the page is in %s', async (accepted, language) => {
    const browser = site.browser();
    browser.fields['accept-language'] = accepted;
    for (const path of ['/', '/account', '/device']) {
      expect((await browser.open(path)).headers.get('content-language')).toBe(language);
    }
  });

  test('every page names the signed-in person', async () => {
    const browser = site.browser();
    const form = await browser.open('/account');
    expect(form.text).not.toContain('alice');
    await browser.submit(form, ALICE);
    expect((await browser.open('/sign-out')).text).toContain('alice');
  });
});

test.each([
  ['a store that does not answer', new StoreUnavailable('state.db'), 503, 'unavailable'],
  ['a fault of ours', new Error('a secret of the code'), 500, 'server'],
] as const)(
  'for %s there is a page with its message, which reveals no more',
  async (_what, error, status, kind) => {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), ALICE);
    const asked = jest.spyOn(site.server.stores.artefacts, 'get').mockRejectedValue(error);
    const page = await browser.open('/account');
    asked.mockRestore();
    expect([page.status, page.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    const { title, text } = textsOf('en').error[kind];
    for (const said of [title, text]) expect(page.text).toContain(said);
    expect(page.text).not.toContain(error.message);
  },
);

test.each([
  ['/sign-in', '/account'],
  ['/interaction/x/login', '/interaction/x'],
  ['/interaction/x/consent', '/interaction/x'],
])('the address %s, at which a refused form leaves the browser, leads to %s', async (path, to) => {
  const { status, headers } = await site.browser().request('GET', path);
  expect([status, headers.get('location')]).toEqual([303, to]);
});

describe('the logo of the server', () => {
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

  test('the logo is the configured file, and cannot run scripts', async () => {
    const logo = join(site.server.config.data, 'logo.svg');
    await writeFile(logo, SVG);
    await using own = await testSite({ brand: { logo } });
    const page = await own.browser().open('/logo');
    expect(page.status).toBe(200);
    expect(page.text).toBe(SVG);
    expect(page.headers.get('content-type')).toBe('image/svg+xml');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'.*; sandbox$/);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    for (const path of ['/', '/account', '/nothing']) {
      const { text } = await own.browser().open(path);
      expect(text).toContain('src="/logo"');
      expect(text).toContain('<link rel="icon" href="/logo" />');
      expect(text).not.toContain(logo);
    }
  });

  test('without a configured logo the answer is 404', async () => {
    expect((await site.browser().open('/logo')).status).toBe(404);
  });
});

test('every page, also an error page, has the links of `brand` at the bottom', async () => {
  const links = [{ text: { en: 'Help & terms' }, url: '/help?a=1&b=2' }];
  await using own = await testSite({ brand: { links } });
  for (const path of ['/', '/account', '/device', '/nothing', '/interaction/x']) {
    expect((await own.browser().open(path)).text).toMatch(
      /<footer [^]*<a href="\/help\?a=1&amp;b=2"\s*>Help &amp; terms<\/a\s*>/,
    );
    expect((await site.browser().open(path)).text).not.toContain('<footer');
  }
});

test.each([
  '/interaction/%2e%2e',
  '/interaction/%00',
  `/interaction/${'a'.repeat(5000)}`,
  '/interaction/__proto__',
  '/auth/__proto__',
  '/device?user_code=%ff&user_code=x',
  '/account?ended=%3Cscript%3E',
])('a request to %s gets a client error or a page', async (path) => {
  const page = await site.browser().open(path);
  expect(page.status).toBeLessThan(500);
  expect(page.text).not.toMatch(SCRIPT);
});

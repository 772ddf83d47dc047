import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser, newPerson } from '../parts/browser.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { type Elsewhere, startElsewhere } from './elsewhere-page.ts';
import { ALICE } from './site.ts';

/** Chromium shows stored documents, and runs no script, form or framed script in them. */
const parts = new AsyncDisposableStack();
let browser: Browser;
let elsewhere: Elsewhere;
let pair: Pair;
let person: BrowserContext;
let page: Page;
const authorization = `Basic ${Buffer.from(`${ALICE.name}:${ALICE.password}`).toString('base64')}`;

beforeAll(async () => {
  browser = parts.use(await launchBrowser());
  elsewhere = parts.use(await startElsewhere());
  pair = parts.use(
    await startPair({
      settings: ({ resource }) => ({
        spaces: [{ url: `${resource}/dav/`, realm: 'dav', schemes: ['Basic'], tree: 'own' }],
      }),
    }),
  );
  await pair.addPerson(ALICE.name, ALICE.password);
  person = await newPerson(browser);
  page = await person.newPage();
});
afterAll(async () => parts.disposeAsync());

/** A script that tells `elsewhere` that it ran. */
const beacon = (what: string) => `new Image().src='${elsewhere.crossSite}/ran-${what}'`;

const HTML = () => `<!doctype html><title>stored</title><p>shown</p>
<script>document.title='ran';${beacon('script')}</script>
<img src="data:," onerror="document.title='ran';${beacon('handler')}">
<iframe srcdoc="<script>${beacon('frame')}</script>"></iframe>
<svg onload="${beacon('svg')}"></svg>`;

const SVG = () => `<svg xmlns="http://www.w3.org/2000/svg" onload="${beacon('onload')}">
<title>stored</title><text y="20">shown</text>
<script>document.documentElement.setAttribute('id','ran');${beacon('script')}</script></svg>`;

const XHTML = () => `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>stored</title></head>
<body><p>shown</p><script>document.title='ran';${beacon('script')}</script></body></html>`;

/** The page's requests so far. Any earlier request arrives before that of a later visit. */
async function beacons(): Promise<readonly string[]> {
  await page.goto(`${elsewhere.crossSite}/last`);
  return elsewhere.asked.filter((path) => path.startsWith('/ran-'));
}

async function store(name: string, type: string, body: string): Promise<string> {
  const url = `${pair.resource}/dav/${encodeURIComponent(name)}`;
  const headers = { authorization, 'Content-Type': type };
  const { status } = await fetch(url, { method: 'PUT', headers, body });
  expect([201, 204]).toContain(status);
  const userinfo = `${ALICE.name}:${encodeURIComponent(ALICE.password)}@`;
  return url.replace('://', `://${userinfo}`);
}

const KINDS: readonly [name: string, type: string, content: () => string, runs: string][] = [
  ['page.html', 'text/html', HTML, '/ran-script'],
  ['drawing.svg', 'image/svg+xml', SVG, '/ran-script'],
  ['page.xhtml', 'application/xhtml+xml', XHTML, '/ran-script'],
  ['page.xml', 'text/xml', XHTML, '/ran-script'],
];

describe.each(KINDS)('%s as %s', (name, type, content, runs) => {
  test('would run at another site', async () => {
    elsewhere.pages.set(`/${name}`, { type, body: content() });
    await page.goto(`${elsewhere.crossSite}/${name}`);
    expect(await beacons()).toContain(runs);
  });

  test('is shown and does not run', async () => {
    const url = await store(name, type, content());
    const before = (await beacons()).length;
    const response = await page.goto(url);
    expect(response?.status()).toBe(200);
    const headers = response?.headers();
    expect(headers?.['content-security-policy']).toContain('sandbox');
    expect(headers?.['x-content-type-options']).toBe('nosniff');
    expect(await page.getByText('shown').count()).toBe(1);
    expect(await page.title()).toBe('stored');
    expect(await page.locator('#ran').count()).toBe(0);
    expect(await beacons()).toHaveLength(before);
  });
});

test('a document with a text type is not shown as a page', async () => {
  const url = await store('page.txt', 'text/plain', HTML());
  const before = (await beacons()).length;
  await page.goto(url);
  expect(await page.getByText('<!doctype html>').count()).toBe(1);
  expect(await beacons()).toHaveLength(before);
});

describe('a listing', () => {
  const NAMES = [
    `<img src=x onerror=document.title='ran'>.txt`,
    `"><script>document.title='ran'<\\script>`.replaceAll('\\', ''),
    `' onmouseover='document.title=1`,
    'javascript:document.title=1',
    '&lt;b&gt;.txt',
  ];

  test('shows any name as text, with a link to the document', async () => {
    for (const name of NAMES) await store(name, 'text/plain', name);
    const userinfo = `${ALICE.name}:${encodeURIComponent(ALICE.password)}@`;
    const root = `${pair.resource}/dav/`.replace('://', `://${userinfo}`);
    for (const name of NAMES) {
      const response = await page.goto(root);
      expect(response?.headers()['content-type']).toMatch(/^text\/html/);
      expect(await page.locator('img, script').count()).toBe(0);
      expect(await page.title()).not.toMatch(/^(?:ran|1)$/);
      const link = page.getByRole('link', { name, exact: true });
      expect(await link.getAttribute('onmouseover')).toBeNull();
      await link.click();
      expect(decodeURIComponent(new URL(page.url()).pathname)).toBe(`/dav/${name}`);
      expect(await page.getByText(name, { exact: true }).count()).toBe(1);
    }
  });
});

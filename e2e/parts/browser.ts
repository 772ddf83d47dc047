/** @needs chromium-headless-shell */
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Locator } from 'playwright-core';

export interface BrowserOptions {
  /** Further arguments of the command line. */
  readonly args?: readonly string[];
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Debian's Chromium without its own network requests and without windows, which needs a quarter of the CPU
 * time.
 */
export async function launchBrowser({ args = [], env }: BrowserOptions = {}): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    ...(env && { env }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  });
  // Playwright's own limit of 30 s is too short on a busy machine.
  browser.on('context', (context) => context.setDefaultTimeout(60_000));
  return browser;
}

export interface PersonOptions {
  /** False: JavaScript is off. */
  readonly script?: boolean;
  readonly locale?: string;
  /** The width of the window, in CSS pixels. */
  readonly width?: number;
  /** Accept certificates that are not trusted. */
  readonly ignoreHTTPSErrors?: boolean;
  readonly colorScheme?: 'light' | 'dark';
}

/** Opens a separate browser context with its own cookies. */
export async function newPerson(
  browser: Browser,
  { script = true, locale = 'en-GB', width = 1024, ...more }: PersonOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({
    javaScriptEnabled: script,
    locale,
    timezoneId: 'UTC',
    viewport: { width, height: 768 },
    ...more,
  });
}

/** The element while it has the focus. A test waits for it if a page sets the focus. */
export function focused(target: Locator): Locator {
  return target.and(target.page().locator(':focus'));
}

/** Presses Tab until the element has the focus; rejects if the keyboard does not reach it. */
export async function tabTo(target: Locator): Promise<void> {
  const page = target.page();
  await target.waitFor({ state: 'attached' });
  for (let step = 0; step < MOST_STOPS; step += 1) {
    if ((await focused(target).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${target.toString()} on ${page.url()}`);
}

const MOST_STOPS = 40;

/**
 * Collects the faults in a browser's pages: policy violations (CSP Level 3 section 5.3), console errors and
 * warnings, failed scripts, missing parts of a page. An error page is no fault.
 */
export async function complaintsOf(context: BrowserContext): Promise<readonly string[]> {
  const complaints: string[] = [];
  await context.exposeBinding('refused', (_source, what: string) => complaints.push(what));
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    refused('policy: ' + event.violatedDirective + ' refuses ' + event.blockedURI);
  })`);
  context.on('console', (message) => {
    const text = message.text();
    const loading = text.startsWith('Failed to load resource');
    if (/^(?:error|warning)$/.test(message.type()) && !loading) complaints.push(text);
  });
  context.on('weberror', (error) => complaints.push(error.error().message));
  context.on('response', (response) => {
    if (response.status() < 400 || response.request().isNavigationRequest()) return;
    complaints.push(`${response.status()} ${response.url()}`);
  });
  return complaints;
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { ONE_STORE } from '../flows/flow.ts';
import { launchBrowser, newPerson } from '../parts/browser.ts';
import { until } from '../parts/process.ts';
import { ALICE, identity, JASON, startSite } from './site.ts';
import type { Site } from './site.ts';

/** Basic (RFC 7617) and Digest (RFC 7616) in Chromium, and requests that pages of other origins cause. */
const WRONG = { ...ALICE, password: 'wrong' };

const parts = new AsyncDisposableStack();
let browser: Browser;
/** A page with a form at two addresses: another origin of the same site, and another site. */
let elsewhere: { readonly sameSite: string; readonly crossSite: string };

beforeAll(async () => {
  browser = parts.use(await launchBrowser());
  const server = createServer(({ url = '' }, response) => {
    const action = new URL(url, 'http://localhost').searchParams.get('action') ?? '';
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><form method="post" action="${action}"><button>Win</button>`);
  }).listen(0, '127.0.0.1');
  parts.use(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  elsewhere = { sameSite: `http://127.0.0.1:${port}`, crossSite: `http://localhost:${port}` };
});
afterAll(async () => parts.disposeAsync());

const friends = () => ({ origins: [elsewhere.crossSite], credentials: true });
const spaces = () => ({
  basic: { schemes: ['Basic'] },
  digest: { schemes: ['Digest'] },
  userhash: { schemes: ['Digest'], digest: { userhash: true } },
  'three-algorithms': {
    schemes: ['Digest'],
    digest: { algorithms: ['SHA-512-256', 'SHA-256', 'MD5'] },
  },
  both: { schemes: ['Digest', 'Basic'] },
  'auth-int': { schemes: ['Digest'], digest: { qop: ['auth-int'] } },
  'basic-for-friends': { schemes: ['Basic'], cors: friends() },
  'digest-for-friends': { schemes: ['Digest'], cors: friends() },
  'basic-for-scripts': { schemes: ['Basic'], cors: { ...friends(), credentials: false } },
});

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(kind, { spaces: spaces() });
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  /** A window of a person who gives the browser this password when it asks. */
  async function windowOf({ name: username, password }: typeof ALICE): Promise<Page> {
    const context = await newPerson(browser);
    await context.setHTTPCredentials({ username, password });
    return context.newPage();
  }

  /** Returns the page's answer, and the credentials that the browser sent without a 401 before. */
  async function visit(page: Page, url: string) {
    const response = await page.goto(url);
    if (response === null) throw new Error('there is no answer');
    const { authorization = '' } = await response.request().allHeaders();
    return { status: response.status(), body: await response.text(), authorization };
  }

  describe.each([
    ['basic', 'Basic', /^Basic /],
    ['digest', 'Digest', /algorithm=SHA-256,.* qop=auth, nc=00000002,/],
    ['userhash', 'Digest', /username="[0-9a-f]{64}".* userhash=true/],
    ['three-algorithms', 'Digest', /algorithm=SHA-256,/],
    ['both', 'Digest', /^Digest /],
  ])('%s', (space, scheme, credentials) => {
    test.each([ALICE, JASON])('admits $name, twice', async (person) => {
      const page = await windowOf(person);
      const body = identity(scheme, space, person);
      expect(await visit(page, site.url(space))).toMatchObject({ status: 200, body });
      const again = await visit(page, `${site.url(space)}?a=b%20c`);
      expect(again).toMatchObject({ status: 200, body });
      expect(again.authorization).toMatch(credentials);
      await page.context().close();
    });

    test('answers 401 to a wrong password', async () => {
      const page = await windowOf(WRONG);
      expect(await visit(page, site.url(space))).toMatchObject({ status: 401 });
      await page.context().close();
    });
  });

  test('RFC 7616 section 3.4: if only auth-int is offered, Chromium answers without qop, and is refused', async () => {
    const page = await windowOf(ALICE);
    expect(await visit(page, site.url('auth-int'))).toMatchObject({ status: 401 });
    await until(() => site.pair.resources[0]?.log.includes('"reason":"no qop') === true);
    await page.context().close();
  });

  test('uses user and password in the URL, which do not reach the page', async () => {
    const page = await (await newPerson(browser)).newPage();
    const userinfo = `${ALICE.name}:${encodeURIComponent(ALICE.password)}@`;
    const seen = await visit(page, site.url('basic').replace('://', `://${userinfo}`));
    expect(seen).toMatchObject({ status: 200, body: identity('Basic', 'basic') });
    await page.context().close();
  });

  describe('a form of another origin, in a browser that has the password', () => {
    async function submit(from: string, space: string) {
      const page = await windowOf(ALICE);
      const url = site.url(space);
      expect(await visit(page, url)).toMatchObject({ status: 200 });
      await page.goto(`${from}/?action=${encodeURIComponent(url)}`);
      const answered = page.waitForResponse(url);
      await page.getByRole('button').click();
      const response = await answered;
      const { authorization = '' } = await response.request().allHeaders();
      const [status, method] = [response.status(), response.request().method()];
      await page.context().close();
      return { status, method, scheme: authorization.split(' ')[0] };
    }

    test('gets 403 at an origin that the space lists without credentials', async () => {
      const came = await submit(elsewhere.crossSite, 'basic-for-scripts');
      expect(came).toEqual({ status: 403, method: 'POST', scheme: 'Basic' });
    });

    describe.each([
      ['basic', 'Basic'],
      ['digest', 'Digest'],
    ])('%s', (space, scheme) => {
      test.each(['crossSite', 'sameSite'] as const)('%s: 403', async (from) => {
        const came = await submit(elsewhere[from], space);
        expect(came).toEqual({ status: 403, method: 'POST', scheme });
      });

      test('gets 200 at an origin that the space lists', async () => {
        const came = await submit(elsewhere.crossSite, `${space}-for-friends`);
        expect(came).toEqual({ status: 200, method: 'POST', scheme });
      });

      test('gets 403 at an origin that the space does not list', async () => {
        const came = await submit(elsewhere.sameSite, `${space}-for-friends`);
        expect(came).toMatchObject({ status: 403 });
      });
    });
  });
});

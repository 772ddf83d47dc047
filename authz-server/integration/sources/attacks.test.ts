import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { testFlow } from '../code-flow.fixture.ts';
import { otherProvider, type OtherProvider } from './provider.fixture.ts';
import { CAROL, corpSource, ISSUER, linkOf, withCorp, type WithCorp } from './with-corp.fixture.ts';

let flow: WithCorp;
let other: OtherProvider;

beforeAll(async () => {
  other = await otherProvider(`${ISSUER}/sign-in/with/other/callback`);
  other.people.set('subject-1', { ...CAROL, name: 'Mallory' });
  flow = await withCorp({ more: [await corpSource(other, { name: 'other' })] });
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

/** Returns the callback that the provider answers to the sign-in of a browser. */
const callbackOf = async (browser: TestBrowser, subject = 'subject-1') =>
  flow.visit(browser, await browser.open('/account'), subject);

const isSignedIn = async (browser: TestBrowser) =>
  !(await browser.open('/account')).text.includes('name="password"');

const changed = (url: string, changes: Readonly<Record<string, string | undefined>>) => {
  const made = new URL(url);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) made.searchParams.delete(name);
    else made.searchParams.set(name, value);
  }
  return made.href;
};

describe('the callback of a source', () => {
  test('works once', async () => {
    const browser = flow.site.browser();
    const url = await callbackOf(browser);
    await browser.open(url);
    const again = await browser.open(url);
    expect([again.status, again.text.includes('was done already')]).toEqual([400, true]);
  });

  test('is refused in another browser, so a victim is not signed in as the attacker', async () => {
    const url = await callbackOf(flow.site.browser());
    const victim = flow.site.browser();
    await victim.open('/account');
    expect((await victim.open(url)).status).toBe(400);
    expect(await isSignedIn(victim)).toBe(false);
  });

  test.each([
    ['without state', { state: undefined }, 400],
    ['with a state of nobody', { state: 'x'.repeat(200) }, 400],
    [
      'with the issuer of another provider (RFC 9207 section 2.4)',
      { iss: 'http://evil.example' },
      502,
    ],
    ['without the issuer that the metadata promise', { iss: undefined }, 502],
    ['with a code of nobody', { code: 'x' }, 502],
    ['with the answer of JARM', { response: 'x' }, 502],
  ])('%s is refused', async (_, changes, status) => {
    const browser = flow.site.browser();
    const page = await browser.open(changed(await callbackOf(browser), changes));
    expect(page.status).toBe(status);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('with a duplicated parameter is refused', async () => {
    const browser = flow.site.browser();
    const page = await browser.open(`${await callbackOf(browser)}&code=x`);
    expect(page.status).toBe(502);
  });

  test('refuses the answer of another source (mix-up)', async () => {
    const browser = flow.site.browser();
    const url = await callbackOf(browser);
    const page = await browser.open(url.replace('/with/corp/', '/with/other/'));
    expect(page.status).toBe(400);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('does not take the code of another sign-in, whose PKCE challenge and nonce differ', async () => {
    const [mine, theirs] = [flow.site.browser(), flow.site.browser()];
    const [url, stolen] = [await callbackOf(mine), await callbackOf(theirs)];
    const code = new URL(stolen).searchParams.get('code') ?? '';
    expect((await mine.open(changed(url, { code }))).status).toBe(502);
    expect(await isSignedIn(mine)).toBe(false);
  });

  test('is not used up by HEAD', async () => {
    const browser = flow.site.browser();
    const url = await callbackOf(browser);
    expect((await browser.request('HEAD', url)).status).toBe(400);
    await browser.open(url);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('is 404 for a source that does not exist', async () => {
    const page = await flow.site.browser().open('/sign-in/with/nowhere/callback?state=x&code=y');
    expect(page.status).toBe(404);
  });

  test('is refused before the provider is asked, after too many tries from an address', async () => {
    await using limited = await withCorp({ limits: { signIn: { burst: 3, per: 600 } } });
    const asked = async () => {
      const browser = limited.site.browser();
      const url = await limited.visit(browser, await browser.open('/account'), 'subject-1');
      return (await browser.open(changed(url, { code: 'x' }))).status;
    };
    expect([await asked(), await asked(), await asked()]).toEqual([502, 502, 502]);
    const before = limited.corp.requests.filter((one) => one === 'POST /token').length;
    expect(await asked()).toBe(429);
    expect(limited.corp.requests.filter((one) => one === 'POST /token')).toHaveLength(before);
  });
});

test('a person whom the server does not know counts against the limit of sign-ins', async () => {
  await using limited = await withCorp({
    source: { newcomers: 'refused' },
    limits: { signIn: { burst: 3, per: 600 } },
  });
  const asked = async () => (await limited.signIn(limited.site.browser(), 'subject-1')).status;
  expect([await asked(), await asked(), await asked(), await asked()]).toEqual([
    403, 403, 403, 429,
  ]);
});

test('the log says why a person did not come in', async () => {
  const lines: string[] = [];
  const log = jsonLog((line) => void lines.push(line), systemClock, 'authz');
  const settings = { sources: [await corpSource(flow.corp, { newcomers: 'refused' })] };
  await using logged = await testFlow(settings, systemClock, log);
  const browser = logged.browser();
  const away = await browser.open(linkOf(await browser.open('/account')));
  const url = await flow.corp.visit(away.headers.get('location') ?? '', 'subject-1');
  const reasonAt = async (status: number) => {
    expect((await browser.open(url)).status).toBe(status);
    return lines
      .filter((line) => line.includes('/callback'))
      .map((line) => JSON.parse(line).reason);
  };
  expect(await reasonAt(403)).toEqual(['corp: unknown']);
  expect(await reasonAt(400)).toEqual(['corp: unknown', 'corp: late']);
});

describe('the ticket between the callback and the page', () => {
  const ticketOf = async (browser: TestBrowser) => {
    const page = await browser.request('GET', await callbackOf(browser));
    return page.headers.get('location') ?? '';
  };

  test('works once', async () => {
    const browser = flow.site.browser();
    const url = await ticketOf(browser);
    await browser.open(url);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' });
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.open(url)).text).toContain('The sign-in took too long');
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('is for the browser and the page for which it was made', async () => {
    const browser = flow.site.browser();
    const url = await ticketOf(browser);
    const victim = flow.site.browser();
    await victim.open('/account');
    await victim.open(url);
    expect(await isSignedIn(victim)).toBe(false);
    const client = await browser.open(flow.site.authorize());
    const { search } = new URL(url, ISSUER);
    await browser.open(`${new URL(client.url).pathname}/login${search}`);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('is not used up by HEAD', async () => {
    const browser = flow.site.browser();
    const url = await ticketOf(browser);
    await browser.request('HEAD', url);
    await browser.open(url);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('leads to no other site', async () => {
    const browser = flow.site.browser();
    const page = await browser.open('/account');
    const link = linkOf(page).replace(/continue=.*/, 'continue=https%3A%2F%2Fevil.example%2F');
    const away = await browser.open(link);
    const back = await flow.corp.visit(away.headers.get('location') ?? '', 'subject-1');
    expect((await browser.open(back)).url).toBe(`${ISSUER}/account`);
  });
});

test.each([
  ['the callback', 606, false],
  ['the ticket that follows', 66, true],
] as const)('%s is refused after %i seconds', async (_, seconds, isAfter) => {
  const clock = new ManualClock(Date.now());
  await using late = await withCorp({}, clock);
  const browser = late.site.browser();
  const callback = await late.visit(browser, await browser.open('/account'), 'subject-1');
  const url = isAfter
    ? ((await browser.request('GET', callback)).headers.get('location') ?? '')
    : callback;
  clock.advance(seconds);
  await browser.open(url);
  expect(await isSignedIn(browser)).toBe(false);
});

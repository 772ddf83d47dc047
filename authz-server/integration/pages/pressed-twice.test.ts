import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LogFields } from '#shared/base/log-fields.ts';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { addPerson } from '#shared/people/people.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { openDeviceFlow } from '../device/device.fixture.ts';
import { withSecondFactor } from '../second-factor.fixture.ts';
import { answerIn, PASSWORD, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';
import { atConsent, BOB, idOf } from './at-consent.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

/**
 * A browser on a slow line sends a form again before it has the answer to the first form, which it gives up. The server
 * has answered, but the browser has no part of that answer, and no cookie either.
 */
let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  jest.restoreAllMocks();
});

/** The engine reads the system's time. */
let ahead = 0;
const now = Date.now.bind(Date);
jest.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
const later = (seconds: number) => (ahead += seconds * 1000);

const SESSION = /^countersign-session/;
const INTERACTION = /^countersign-(?:interaction|resume)/;

/** Returns a copy of the browser in its present state; answers to another copy do not reach it. */
function copyOf(browser: TestBrowser): TestBrowser {
  const copy = site.browser();
  copy.plant(browser);
  return copy;
}

function expectExpired(page: Page) {
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('This page is too old')]);
}

const signInsOf = async (name: string) => listSignIns(site.server, await idOf(site, name));
const codeIn = (page: Page) => answerIn(page).get('code');
const isSignedIn = async (browser: TestBrowser) =>
  (await browser.open('/account')).text.includes('/sign-out');

describe('a consent form that is sent twice', () => {
  /** Allows the request in a browser; `lost` is a browser that has lost each answer since then. */
  async function allowed() {
    const { browser, page } = await atConsent(site, { prompt: 'consent' });
    const lost = copyOf(browser);
    const answer = await browser.submit(page, { decision: 'allow' });
    return { browser, page, lost, answer };
  }

  test.each(['allow', 'deny'])(
    'a second form with "%s" gets the answer to the first',
    async (decision) => {
      const { page, lost, answer } = await allowed();
      const again = await lost.submit(page, { decision });
      expect(answerIn(again).toString()).toBe(answerIn(answer).toString());
      expect(await isSignedIn(lost)).toBe(true);
      expect(await site.redeem(again)).toHaveProperty('access_token');
    },
  );

  test('a denial stays a denial if the second form allows', async () => {
    const { browser, page } = await atConsent(site, { prompt: 'consent' });
    const lost = copyOf(browser);
    await browser.submit(page, { decision: 'deny' });
    const again = answerIn(await lost.submit(page, { decision: 'allow' }));
    expect([again.get('error'), again.get('code')]).toEqual(['access_denied', null]);
  });

  test('RFC 6749 section 4.1.2: a redeemed code is not sent again, and its tokens stay valid', async () => {
    const { browser, page, lost, answer } = await allowed();
    const { access_token: token } = await site.redeem(answer);
    for (const again of [
      await lost.submit(page, { decision: 'allow' }),
      await lost.open(page.url),
      await browser.open(page.url),
    ]) {
      expect([again.status, again.headers.get('refresh')]).toEqual([200, null]);
      expect(again.text).toContain('The sign-in is done');
      expect(again.text).toContain('href="https://app.example/"');
      expect(again.text).not.toContain(codeIn(answer));
    }
    const headers = { authorization: `Bearer ${String(token)}` };
    expect((await fetched(`${site.url}/userinfo`, { headers })).status).toBe(200);
  });

  test('with form_post the second answer has the same form', async () => {
    const { browser, page } = await atConsent(site, {
      prompt: 'consent',
      response_mode: 'form_post',
    });
    const lost = copyOf(browser);
    const first = await browser.submit(page, { decision: 'allow' });
    const again = await lost.submit(page, { decision: 'allow' });
    expect(again.forms).toEqual(first.forms);
    const policy = 'content-security-policy';
    expect(again.headers.get(policy)).toBe(first.headers.get(policy));
  });

  test("the browser's back button leads to the same answer", async () => {
    const { browser, page, answer } = await allowed();
    expect(codeIn(await browser.open(page.url))).toBe(codeIn(answer));
  });

  test('after 30 seconds the answer is no longer repeated', async () => {
    const { browser, page, lost } = await allowed();
    later(31);
    for (const one of [lost, browser]) {
      expectExpired(await one.submit(page, { decision: 'allow' }));
      expectExpired(await one.open(page.url));
    }
  });

  test('ten forms at the same time, resumed at the same time, give one code', async () => {
    const { browser, page } = await atConsent(site, { prompt: 'consent' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => copyOf(browser).submit(page, { decision: 'allow' })),
    );
    expect(new Set(answers.map(codeIn)).size).toBe(1);
    expect(await site.redeem(answers[9] ?? page)).toHaveProperty('access_token');
  });

  test('another browser gets no answer, whatever it knows except the cookie of the forms', async () => {
    const { browser, page, lost, answer } = await allowed();
    const resume = `/auth/${page.url.split('/').at(-1)}`;
    const [stranger, thief] = [site.browser(), site.browser()];
    thief.plant(lost, INTERACTION);
    thief.plant(browser, SESSION);
    const token = new Map(page.forms[0]?.fields).get('csrf');
    const planted = [{ name: 'countersign-csrf', line: `countersign-csrf=${token}; path=/` }];
    for (const one of [stranger, thief]) one.plant({ cookies: planted });
    for (const one of [stranger, thief]) {
      for (const path of [page.url, resume]) {
        const got = await one.open(path);
        expectExpired(got);
        expect(got.text).not.toContain(codeIn(answer));
      }
    }
    expect(await isSignedIn(stranger)).toBe(false);
  });

  test('after the end of the sign-in the answer is not repeated', async () => {
    const { page, lost, answer } = await allowed();
    for (const signIn of await signInsOf('alice')) await endSignIn(site.server, signIn);
    const again = await lost.submit(page, { decision: 'allow' });
    expectExpired(again);
    expect(again.text).not.toContain(codeIn(answer));
  });

  test('another person who signed in meanwhile does not get the answer', async () => {
    const { browser, page } = await allowed();
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' }, '/sign-out');
    await browser.submit(await browser.open('/account'), BOB, '/sign-in');
    expectExpired(await browser.open(page.url));
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('the log line of a repeated form has no refusal', async () => {
    const lines: LogFields[] = [];
    const log = (_event: string, fields: LogFields) => void lines.push(fields);
    await using flow = await openDeviceFlow({}, { info: log, warn: log, error: log });
    const browser = await flow.signedIn('alice');
    const asked = new URL(site.authorize({ prompt: 'consent' }), flow.authz.url);
    const page = await browser.open(asked.href);
    const copy = flow.browser();
    copy.plant(browser);
    const first = answerIn(await browser.submit(page, { decision: 'allow' }));
    expect(first.get('code')).not.toBeNull();
    lines.length = 0;
    expect(answerIn(await copy.submit(page, { decision: 'allow' }))).toEqual(first);
    expect(lines.filter(({ reason }) => reason !== undefined)).toEqual([]);
    expect(lines.length).toBeGreaterThan(1);
  });

  test('if the store fails to keep the answer, the browser still gets it', async () => {
    const { artefacts } = site.server.stores;
    const { put } = artefacts;
    const fails: typeof put = (row) =>
      typeof row.payload['answer'] === 'string'
        ? Promise.reject(new Error('the disk is full'))
        : put.call(artefacts, row);
    Object.assign(artefacts, { put: fails });
    try {
      const { answer, lost, page } = await allowed();
      expect(codeIn(answer)).toBeTruthy();
      expectExpired(await lost.submit(page, { decision: 'allow' }));
    } finally {
      Object.assign(artefacts, { put });
    }
  });

  test('the store has neither the code nor a session in clear text', async () => {
    const { browser, page, answer } = await allowed();
    const id = page.url.split('/').at(-1) ?? '';
    const kept = JSON.stringify(await site.server.stores.artefacts.get('Interaction', id));
    const session = browser.cookies.find(({ name }) => name === 'countersign-session')?.value;
    expect(kept).toContain('"answer":"');
    for (const secret of [codeIn(answer), session, 'https://']) {
      expect(secret).toBeTruthy();
      expect(kept).not.toContain(secret);
    }
  });
});

describe('a sign-in form that is sent twice', () => {
  let name = '';
  beforeEach(async () => {
    name = `person-${ahead}-${Math.random()}`;
    await addPerson(
      { ...site.server, passwords: site.server.passwords, realms: [] },
      { name, password: PASSWORD },
    );
  });
  const who = () => ({ name, password: PASSWORD });

  test('the second form leads to the same page, and the person is signed in once', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const lost = copyOf(browser);
    const consent = await browser.submit(asked, who());
    const again = await lost.submit(asked, who());
    expect([again.url, again.text]).toEqual([
      consent.url,
      expect.stringContaining('name="decision"'),
    ]);
    expect(await signInsOf(name)).toHaveLength(1);
    const answer = await lost.submit(again, { decision: 'allow' });
    expect(await site.redeem(answer)).toHaveProperty('access_token');
  });

  test.each([
    ['another password', { password: 'wrong horse' }],
    ['another name', BOB],
  ])('a form with %s is not the same form', async (_what, other) => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const lost = copyOf(browser);
    await browser.submit(asked, who());
    expectExpired(await lost.submit(asked, { ...who(), ...other }));
    expect(await isSignedIn(lost)).toBe(false);
  });

  test('the back button leads on, even after the session has another identifier', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const consent = await browser.submit(asked, who());
    expect((await browser.open(asked.url)).url).toBe(consent.url);
    const answer = await browser.submit(consent, { decision: 'allow' });
    await site.redeem(answer);
    expect((await browser.open(asked.url)).text).toContain('The sign-in is done');
    later(40);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test('if a signed-in person sends the form again, the person gets the new session once', async () => {
    const browser = site.browser();
    await browser.submit(await browser.open('/account'), who(), '/sign-in');
    const asked = await browser.open(site.authorize({ prompt: 'login' }));
    const pages = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const copy = copyOf(browser);
        const page = await copy.submit(asked, who());
        return { page, signedIn: await isSignedIn(copy) };
      }),
    );
    expect(new Set(pages.map(({ page }) => page.url)).size).toBe(1);
    expect(pages.filter(({ signedIn }) => !signedIn)).toEqual([]);
    expect(await signInsOf(name)).toHaveLength(1);
  });

  test('several forms with the same code of a second factor all continue, and the code is used once', async () => {
    const { code } = await withSecondFactor(site.server, name);
    const browser = site.browser();
    const step = await browser.submit(await browser.open(site.authorize()), who());
    const typed = { code: code() };
    const pages = await Promise.all(
      Array.from({ length: 5 }, () => copyOf(browser).submit(step, typed)),
    );
    pages.push(await copyOf(browser).submit(step, typed));
    expect(new Set(pages.map(({ url }) => url)).size).toBe(1);
    expect(pages.every(({ text }) => text.includes('name="decision"'))).toBe(true);
    expect(await signInsOf(name)).toHaveLength(1);
  });
});

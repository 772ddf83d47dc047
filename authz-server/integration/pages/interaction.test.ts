import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findAccess, listAccess } from '#shared/people/access/grants.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { answerIn, claimsOf, PASSWORD, testSite, WEB } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';
import { ALICE, allowed, atConsent, BOB, grantOf, idOf } from './at-consent.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  jest.restoreAllMocks();
});

/** The engine reads the system's time, so the tests move that, and only forward. */
let ahead = 0;
const now = Date.now.bind(Date);
jest.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
function later(seconds: number) {
  ahead += seconds * 1000;
}

/** Checks that the page says that it is too old, and has a link. */
function expectExpired(page: Page) {
  expect(page.status).toBe(400);
  expect(page.text).toContain('This page is too old');
  expect(page.text).toMatch(
    /<a class="button primary" href="(?:\/account|https:\/\/app\.example\/)"/,
  );
}

describe('signing in for a client (RFC 6749 section 4.1, OpenID Connect Core 1.0 section 3.1.2.3)', () => {
  test('the server asks for the sign-in and the consent, and then redirects with a code, its state and iss', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    expect(asked.status).toBe(200);
    expect(asked.url).toMatch(/^http:\/\/localhost:3000\/interaction\/[\w-]+$/);
    expect(asked.text).toContain('Web &amp; &lt;b&gt;App&lt;/b&gt;');
    const consent = await browser.submit(asked, ALICE);
    expect(consent.status).toBe(200);
    const answer = answerIn(await browser.submit(consent, { decision: 'allow' }));
    expect(answer.get('state')).toBe('the state');
    expect(answer.get('iss')).toBe('http://localhost:3000');
    expect(answer.get('code')).toMatch(/^[\w-]{43}$/);
  });

  test('both pages show the logo of the client, and may load only that picture (CSP Level 3 section 6.1.6)', async () => {
    const { clients } = site.server.stores;
    const logo_uri = 'https://pictures.example/of/web.png';
    await clients.replace({ ...WEB, logo_uri });
    const browser = site.browser();
    const asked = await browser.open(site.authorize({ prompt: 'consent' }));
    const consent = await browser.submit(asked, ALICE);
    await clients.replace(WEB);
    for (const { text, headers } of [asked, consent]) {
      expect(text).toContain(`<img src="${logo_uri}" alt="" referrerpolicy="no-referrer"`);
      expect(headers.get('content-security-policy')).toContain(`img-src data: ${logo_uri};`);
    }
    expect((await browser.open(site.authorize())).text).not.toContain('pictures.example');
  });

  test('the code gives tokens of that person, for the allowed access', async () => {
    const { page: answer } = await allowed(site);
    const tokens = await site.redeem(answer);
    expect(claimsOf(tokens['access_token'])).toMatchObject({
      sub: await idOf(site, 'alice'),
      scope: 'documents:read documents:write',
      sub_gen: expect.any(Number),
    });
  });

  test('a signed-in person who has allowed the access is not asked again', async () => {
    const { browser } = await allowed(site);
    expect(answerIn(await browser.open(site.authorize())).get('code')).not.toBeNull();
  });

  test('after a wrong password the page asks again, and keeps the typed name', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize({ prompt: 'consent' }));
    const again = await browser.submit(asked, { name: 'alice', password: 'wrong horse' });
    expect(again.status).toBe(422);
    expect(again.forms[0]?.fields).toContainEqual(['name', 'alice']);
    expect(again.text).not.toContain('wrong horse');
    expect((await browser.submit(again, ALICE)).text).toContain('name="decision"');
  });

  test.each([
    ['no fields', { name: undefined, password: undefined }],
    ['a password without a name', { name: '', password: PASSWORD }],
    ['a NUL in the name', { name: 'alice\0', password: PASSWORD }],
    ['a name of 10,000 characters', { name: 'a'.repeat(10_000), password: PASSWORD }],
    ['a password of 10,000 characters', { name: 'alice', password: 'a'.repeat(10_000) }],
  ])('a form with %s is a wrong password', async (_what, fields) => {
    const browser = site.browser();
    expect((await browser.submit(await browser.open(site.authorize()), fields)).status).toBe(422);
  });

  test('login_hint is filled in as text', async () => {
    const browser = site.browser();
    const page = await browser.open(site.authorize({ login_hint: '"><script>alert(1)</script>' }));
    expect(page.text).not.toContain('<script>');
    expect(page.forms[0]?.fields).toContainEqual(['name', '"><script>alert(1)</script>']);
  });

  test('ui_locales takes precedence over Accept-Language', async () => {
    const browser = site.browser();
    const page = await browser.open(site.authorize({ ui_locales: 'fr de' }));
    expect(page.headers.get('content-language')).toBe('de');
  });

  test('a person who gives up returns to the client with access_denied', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const abort = asked.forms.find(({ action }) => action.endsWith('/abort'));
    const answer = answerIn(await browser.submit(asked, {}, abort?.action));
    expect(answer.get('error')).toBe('access_denied');
    expect(answer.get('state')).toBe('the state');
  });
});

describe('signing in again (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
  test.each([{ prompt: 'login' }, { max_age: '60' }])(
    'a request with %j asks for the password',
    async (params) => {
      const { browser } = await allowed(site);
      later(61);
      const page = await browser.open(site.authorize(params));
      expect(page.text).toContain('type="password"');
      expect(page.forms[0]?.fields).toContainEqual(['name', 'alice']);
      expect(answerIn(await browser.submit(page, ALICE)).get('code')).not.toBeNull();
    },
  );

  test('a sign-in within max_age is enough', async () => {
    const { browser } = await allowed(site);
    later(59);
    expect(answerIn(await browser.open(site.authorize({ max_age: '60' }))).has('code')).toBe(true);
  });

  test('login and consent in one request are asked once each, and auth_time is the time of the password', async () => {
    const { browser, page } = await atConsent(site, { prompt: 'login consent' });
    const [signIn] = await listSignIns(site.server, await idOf(site, 'alice'));
    later(5);
    const answer = await browser.submit(page, { decision: 'allow' });
    const claims = claimsOf((await site.redeem(answer))['access_token']);
    expect(claims['auth_time']).toBe(Math.floor((signIn?.since ?? 0) / 1000));
  });

  test('if another person signs in, the earlier one is signed out, and the grants of that session end', async () => {
    const { browser, page: answer } = await allowed(site);
    const grant = await grantOf(site, answer);
    const page = await browser.open(site.authorize({ prompt: 'login' }));
    const consent = await browser.submit(page, BOB);
    expect(consent.text).toContain('bob');
    expect(await findAccess(site.server, grant)).toBeUndefined();
    const token = (await site.redeem(await browser.submit(consent, { decision: 'allow' })))[
      'access_token'
    ];
    expect(claimsOf(token)['sub']).toBe(await idOf(site, 'bob'));
  });
});

describe('an interaction belongs to one browser and one time', () => {
  test('for an unknown interaction there is a page that says so, with a link', async () => {
    for (const path of ['/interaction/x', `/interaction/${'a'.repeat(43)}`]) {
      expectExpired(await site.browser().open(path));
    }
  });

  test.each(['login', 'consent', 'abort'])(
    'another browser cannot send the form %s',
    async (end) => {
      const { browser, page } = await atConsent(site);
      const stranger = site.browser();
      const { forms } = await stranger.open('/account');
      const csrf = new Map(forms[0]?.fields).get('csrf') ?? '';
      const url = new URL(page.url);
      const form = new URLSearchParams({ csrf, decision: 'allow', ...ALICE });
      expectExpired(await stranger.request('POST', `${url.pathname}/${end}`, form));
      expect((await browser.open(page.url)).text).toContain('name="decision"');
    },
  );

  test('an interaction of another URL is not shown', async () => {
    const { browser, page } = await atConsent(site);
    const { pathname } = new URL(page.url);
    const cookie = browser.cookies
      .filter(({ path }) => path === pathname || path === '/')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const fields = { cookie };
    const other = await browser.request('GET', '/interaction/other', undefined, fields);
    expectExpired(other);
    expect(other.text).toContain('https://app.example/');
  });

  test('an interaction of another person is not shown to the person who is signed in', async () => {
    const { browser: attacker, page } = await atConsent(site);
    const { browser: victim } = await atConsent(site, {}, BOB);
    victim.plant(attacker, /^countersign-(?:interaction|resume)/);
    expectExpired(await victim.open(page.url));
    const { forms } = await victim.open('/account/end');
    const csrf = new Map(forms[0]?.fields).get('csrf') ?? '';
    const form = new URLSearchParams({ csrf, decision: 'allow' });
    expectExpired(await victim.request('POST', `${new URL(page.url).pathname}/consent`, form));
  });

  test('an expired interaction no longer exists', async () => {
    const { browser, page } = await atConsent(site);
    const uid = page.url.split('/').at(-1) ?? '';
    await site.server.stores.artefacts.remove('Interaction', uid);
    expectExpired(await browser.open(page.url));
    expectExpired(await browser.submit(page, { decision: 'allow' }));
  });

  test('after a while, going back to a finished interaction or sending its form again gets a page that says so', async () => {
    const browser = site.browser();
    const asked = await browser.open(site.authorize());
    const consent = await browser.submit(asked, ALICE);
    later(31);
    expectExpired(await browser.open(asked.url));
    expectExpired(await browser.submit(asked, ALICE));
    answerIn(await browser.submit(consent, { decision: 'allow' }));
    later(31);
    expectExpired(await browser.open(consent.url));
    expectExpired(await browser.submit(consent, { decision: 'allow' }));
  });

  test('if ten decisions come at the same time, one is final, and the others get the same answer', async () => {
    const { browser, page } = await atConsent(site);
    const kept = site.browser();
    kept.plant(browser);
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        browser.send(page, { decision: i % 2 === 0 ? 'allow' : 'deny' }),
      ),
    );
    expect(sent.every(({ status }) => status === 303)).toBe(true);
    const answer = answerIn(await browser.follow(sent[0] ?? page));
    expect(answer.has('code')).not.toBe(answer.has('error'));
    expect(answerIn(await kept.follow(sent[0] ?? page)).toString()).toBe(answer.toString());
  });

  test('the form of one prompt is not accepted for the other', async () => {
    const { browser, page } = await atConsent(site);
    const login = `${new URL(page.url).pathname}/login`;
    const csrf = page.forms[0]?.fields.find(([name]) => name === 'csrf')?.[1] ?? '';
    const form = new URLSearchParams({ csrf, ...BOB });
    expectExpired(await browser.request('POST', login, form));
  });

  test('two tabs do not affect each other', async () => {
    const browser = site.browser();
    const [one, two] = [await browser.open(site.authorize()), await browser.open(site.authorize())];
    const [first, second] = [await browser.submit(one, ALICE), await browser.submit(two, ALICE)];
    expect(answerIn(await browser.submit(first, { decision: 'allow' })).get('code')).not.toBeNull();
    expect(
      answerIn(await browser.submit(second, { decision: 'allow' })).get('code'),
    ).not.toBeNull();
  });

  test.each([
    [
      'the sign-in was ended',
      async () => {
        const who = await idOf(site, 'alice');
        for (const signIn of await listSignIns(site.server, who))
          await endSignIn(site.server, signIn);
      },
    ],
    ['everything was ended', async () => endEverything(site.server, await idOf(site, 'alice'))],
  ])('%s while the person was asked for consent', async (_what, end) => {
    const { browser, page } = await atConsent(site);
    const before = await listAccess(site.server, await idOf(site, 'alice'));
    await end();
    expectExpired(await browser.submit(page, { decision: 'allow' }));
    expect((await browser.open(site.authorize())).text).toContain('type="password"');
    const after = await listAccess(site.server, await idOf(site, 'alice'));
    expect(after.every(({ grantId }) => before.some((one) => one.grantId === grantId))).toBe(true);
  });

  test('a consent that is resumed after the end of the sign-in does not sign the person in', async () => {
    const { browser, page } = await atConsent(site);
    const done = await browser.send(page, { decision: 'allow' });
    const who = await idOf(site, 'alice');
    for (const signIn of await listSignIns(site.server, who)) await endSignIn(site.server, signIn);
    await browser.follow(done);
    expect(await listSignIns(site.server, who)).toEqual([]);
    expect((await browser.open('/account')).text).toContain('type="password"');
  });
});

describe('session fixation', () => {
  const isSession = /^countersign-session/;

  /** Puts the attacker's cookies into the browser of alice, who signs in there. */
  async function planted(prepare: (attacker: TestBrowser) => Promise<unknown>) {
    const [attacker, victim] = [site.browser(), site.browser()];
    await prepare(attacker);
    victim.plant(attacker, isSession);
    await victim.submit(await victim.open(site.authorize({ prompt: 'login' })), ALICE);
    return { attacker, victim };
  }

  test('the session gets a new identifier, and the planted session is signed out', async () => {
    const { attacker, victim } = await planted((browser) =>
      browser.open('/account').then(async (page) => browser.submit(page, BOB)),
    );
    const sessionOf = (browser: TestBrowser) =>
      browser.cookies.find(({ name }) => name === 'countersign-session')?.value;
    expect(sessionOf(victim)).not.toBe(sessionOf(attacker));
    expect((await victim.open('/account')).text).toContain('alice');
    const theirs = await attacker.open('/account');
    expect(theirs.text).not.toContain('alice');
    expect(theirs.text).toContain('type="password"');
  });

  test('planted cookies of an interaction do not sign the attacker in', async () => {
    const [attacker, victim] = [site.browser(), site.browser()];
    const asked = await attacker.open(site.authorize({ prompt: 'consent' }));
    victim.plant(attacker, /^countersign-(?:interaction|resume)/);
    const page = await victim.open(asked.url);
    const done = await victim.send(page, ALICE);
    expect(done.status).toBe(303);
    const resume = done.headers.get('location') ?? '';
    expectExpired(await attacker.open(resume));
    expect((await attacker.open('/account')).text).toContain('type="password"');
    // The person who signed in can still continue.
    expect((await victim.open(resume)).text).toContain('name="decision"');
  });
});

test('no URL of our answers contains a secret, and no cache stores the answers', async () => {
  const browser = site.browser();
  const asked = await browser.open(site.authorize());
  const done = await browser.send(asked, ALICE);
  expect(done.headers.get('location')).toMatch(/^http:\/\/localhost:3000\/auth\/[\w-]+$/);
  for (const page of [asked, done]) {
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
  }
  expect(asked.headers.get('content-security-policy')).toContain("form-action 'self';");
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { systemClock } from '#shared/base/clock.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { systemRandom } from '#shared/base/random.ts';
import { saysWhatToDo } from '#shared/refusals/advice.fixture.ts';
import { CALLBACK, PASSWORD, sent, testFlow, WEB } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

const ODD = 'https://app.example/a;script-src,*?b=c';
const BYE = 'https://app.example/bye';

let flow: TestFlow;
let browser: TestBrowser;
beforeAll(async () => {
  flow = await testFlow();
  await flow.stores.clients.add({
    ...WEB,
    client_id: 'odd',
    redirect_uris: [ODD, 'http://localhost:8080/'],
    post_logout_redirect_uris: [BYE],
  });
  browser = await flow.signedIn();
  await flow.allow(browser);
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

const policyOf = (page: Page) => page.headers.get('content-security-policy');

/**
 * Checks that the policy allows the page's only script, and does not limit where the client may redirect the browser.
 */
function expectSubmitting(page: Page): void {
  const [, script = ''] = /<script>(.*?)<\/script>/s.exec(page.text) ?? [];
  const hash = createHash('sha256').update(script).digest('base64');
  expect(policyOf(page)).toBe(
    `default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; frame-ancestors 'none'`,
  );
  expect(page.text).toMatch(/<noscript>.*<button autofocus type="submit">/s);
  expectGuarded(page);
}

function expectGuarded({ headers }: Page): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('referrer-policy')).toMatch(/^(?:no-referrer|same-origin)$/);
  expect(headers.get('cache-control')).toContain('no-store');
}

describe('OAuth 2.0 Form Post Response Mode section 2', () => {
  test('the answer is a form to the redirect URI', async () => {
    const page = await browser.open(flow.authorize({ response_mode: 'form_post' }));
    expect(page.status).toBe(200);
    expectSubmitting(page);
    const [form] = page.forms;
    expect([form?.method, form?.action]).toEqual(['post', CALLBACK]);
    const fields = Object.fromEntries(form?.fields ?? []);
    expect(fields).toMatchObject({ state: 'the state', iss: flow.config.issuer });
    expect((await flow.redeem(fields['code'] ?? '')).status).toBe(200);
  });

  test('an error is such a form, too', async () => {
    const page = await browser.open(flow.authorize({ response_mode: 'form_post', scope: 'admin' }));
    expect(page.status).toBe(400);
    expectSubmitting(page);
    expect(page.forms[0]?.fields).toContainEqual(['error', 'invalid_scope']);
  });

  test('the form of an error says what to do', async () => {
    const asked = { client_id: 'odd', redirect_uri: ODD, response_mode: 'form_post' };
    const page = await browser.open(flow.authorize({ ...asked, prompt: 'none' }));
    const { error, error_description: words = '' } = Object.fromEntries(
      page.forms[0]?.fields ?? [],
    );
    expect([error, words, saysWhatToDo(words)]).toEqual(['consent_required', words, true]);
  });

  test('values from the client are escaped', async () => {
    const state = `"><script>alert(1)</script>`;
    const page = await browser.open(flow.authorize({ response_mode: 'form_post', state }));
    expectSubmitting(page);
    expect(page.text).not.toContain('<script>alert');
    expect(page.forms[0]?.fields).toContainEqual(['state', state]);
  });

  test('a redirect URI cannot add a directive to the policy', async () => {
    const asked = {
      client_id: 'odd',
      redirect_uri: ODD,
      response_mode: 'form_post',
      prompt: 'none',
    };
    const page = await browser.open(flow.authorize(asked));
    expectSubmitting(page);
  });
});

describe('CSP Level 3 section 6.4.1: a form that leads to a client ends on a page of ours', () => {
  const STATE = `"><script>alert(1)</script>;url=https://evil.example/ 'x' &amp; ü\r\nLocation: https://evil.example/`;

  test.each(['query', 'fragment'])(
    'with response_mode=%s the page leads only to the address of the answer, and sends no referrer',
    async (response_mode) => {
      const asked = flow.authorize({ response_mode, state: STATE, prompt: 'consent' });
      const page = await browser.submit(await browser.open(asked), { decision: 'allow' });
      const { headers, text } = page;
      expect([page.status, new URL(page.url).pathname]).toEqual([
        200,
        expect.stringMatching(/^\/auth\/[\w-]+$/),
      ]);
      const href = /<a class="button primary" href="([^"]*)">/.exec(text)?.[1];
      const leadsTo = new URL(headers.get('location') ?? '');
      expect(href?.replaceAll('&amp;', '&')).toBe(leadsTo.href);
      expect(headers.get('refresh')).toBe(`0;url=${leadsTo.href}`);
      expect(leadsTo.origin + leadsTo.pathname).toBe(CALLBACK);
      const answer = response_mode === 'query' ? leadsTo.search : leadsTo.hash;
      expect(new URLSearchParams(answer.slice(1)).get('state')).toBe(STATE);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(policyOf(page)).toMatch(/^default-src 'none'; style-src [^;]*; img-src data:; form-/);
      expect(text).not.toContain('<script');
      expectGuarded(page);
    },
  );

  test('a redirect to another of our pages stays a redirect', async () => {
    const other = flow.browser();
    const asked = await other.open(flow.authorize({ prompt: 'consent' }));
    const posted = await other.send(asked, { name: 'alice', password: PASSWORD });
    const next = await other.request('GET', posted.headers.get('location') ?? '');
    expect([next.status, next.headers.get('refresh')]).toEqual([303, null]);
    expect(next.headers.get('location')).toMatch(/\/interaction\//);
  });
});

describe('OpenID Connect RP-Initiated Logout 1.0 section 2', () => {
  const end = (one: TestBrowser, more: Record<string, string> = {}) => {
    const parameters = { client_id: 'odd', post_logout_redirect_uri: BYE, ...more };
    return one.open(`/session/end?${new URLSearchParams(parameters).toString()}`);
  };

  test.each([
    ['', BYE],
    ['a b&c', `${BYE}?state=a+b%26c`],
  ])(
    'a browser without a sign-in is redirected at once, with the state %j',
    async (state, leadsTo) => {
      const one = flow.browser();
      const page = await end(one, { state });
      expect([page.status, page.headers.get('location')]).toEqual([303, leadsTo]);
      expect([policyOf(page), page.text]).toEqual([null, '']);
      expectGuarded(page);
    },
  );

  test('a browser without a sign-in has no session afterwards', async () => {
    const one = flow.browser();
    await end(one);
    expect(one.cookies.filter(({ name }) => name.includes('session'))).toEqual([]);
  });

  test('without a redirect URI the page says so, in the language of the browser and without a script', async () => {
    const german = { 'accept-language': 'de' };
    const ended = await fetched(`${flow.url}/session/end`, { headers: german });
    expect(ended.headers.get('location')).toBe(`${flow.config.issuer}/session/end/success`);
    const success = await fetched(`${flow.url}/session/end/success`, { headers: german });
    const text = await success.text();
    expect(text).toContain('<html lang="de"');
    expect(text).not.toContain('<script');
  });

  test('a signed-in person is asked on our own page', async () => {
    const page = await end(browser);
    expect(policyOf(page)).toContain("frame-ancestors 'none'");
    expect(policyOf(page)).not.toContain('script-src');
    expectGuarded(page);
  });

  test.each(['https://evil.example/', `${BYE}/`, 'javascript:alert(1)'])(
    'section 3: the unregistered URI %s is not followed',
    async (uri) => {
      const query = new URLSearchParams({ client_id: 'odd', post_logout_redirect_uri: uri });
      const page = await browser.open(`/session/end?${query.toString()}`);
      // The person is still asked, and stays on our page.
      expect([page.status, page.headers.get('location')]).toEqual([200, null]);
      expect(page.text).not.toContain(uri);
    },
  );

  test('without a client no URI is followed', async () => {
    const one = flow.browser();
    const last = await one.open(`/session/end?post_logout_redirect_uri=${encodeURIComponent(BYE)}`);
    expect([last.status, last.url]).toEqual([200, `${flow.config.issuer}/session/end/success`]);
  });
});

test('if another person signed in meanwhile in another tab, that session ends first, without a page of its own', async () => {
  const bob = { stores: flow.stores, clock: systemClock, random: systemRandom, longestLife: 605 };
  await addPerson(
    { ...bob, passwords: createPasswords(), realms: [] },
    { name: 'bob', password: PASSWORD },
  );
  const one = flow.browser();
  const page = await one.open(flow.authorize());
  const form = page.forms.find(({ action }) => action.endsWith('/login'));
  const resume = await one.send(page, { name: 'bob', password: PASSWORD }, form?.action);
  await one.submit(await one.open('/account'), { name: 'alice', password: PASSWORD });

  const access = { stores: flow.stores, clock: systemClock, longestLife: 605 };
  const signedIn = (await listSignIns(access, flow.accountId)).length - 1;
  const consent = await one.follow(resume);
  expect(policyOf(consent)).not.toContain('script-src');
  expect(await listSignIns(access, flow.accountId)).toHaveLength(signedIn);
  const code = sent(await one.submit(consent, { decision: 'allow' })).get('code') ?? '';
  const { body } = await flow.redeem(code);
  expect(decodeJwt(String(body['access_token'])).sub).not.toBe(flow.accountId);
});

describe('every answer to a browser', () => {
  test('a redirect sends no referrer', async () => {
    const page = await browser.open(flow.authorize());
    expect(page.headers.get('location')).toContain('code=');
    expectGuarded(page);
    expect(policyOf(page)).toBeNull();
  });

  test('an error page keeps its own policy', async () => {
    const page = await browser.open(flow.authorize({ client_id: 'nobody' }));
    expect(page.status).toBe(400);
    expect(policyOf(page)).toContain("default-src 'none'");
    expectGuarded(page);
  });
});

import type { Context } from 'koa';
import { createCsrf } from '../../pages/frame/csrf.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { PASSWORD, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const ALICE = { name: 'alice', password: PASSWORD };

async function at(path: string) {
  const { browser } = await signedIn();
  return { browser, page: await browser.open(path) };
}

/** Returns a browser in which alice is signed in, on a page with a form. */
async function signedIn(): Promise<{ browser: TestBrowser; page: Page }> {
  const browser = site.browser();
  await browser.submit(await browser.open('/account'), ALICE);
  return { browser, page: await browser.open('/account/end') };
}

async function interaction(params: Record<string, string>) {
  const { browser } = await signedIn();
  const page = await browser.open(site.authorize(params));
  return { browser, page };
}

/** Each of our forms: its address, and a visit to its page. */
const FORMS: readonly (readonly [string, () => Promise<{ browser: TestBrowser; page: Page }>])[] = [
  ['/account', signedIn],
  ['/account/password', () => at('/account/password')],
  ['/sign-out', signedIn],
  ['/sign-in', signedIn],
  ['/device', signedIn],
  ['/interaction/:uid/login', () => interaction({ prompt: 'login' })],
  ['/interaction/:uid/abort', () => interaction({ prompt: 'login' })],
  ['/interaction/:uid/account', () => interaction({ prompt: 'select_account' })],
  ['/interaction/:uid/consent', () => interaction({})],
];

const csrfOf = (page: Page) =>
  page.forms.flatMap(({ fields }) => fields).find(([name]) => name === 'csrf')?.[1] ?? '';

const VALID = {
  ...ALICE,
  continue: '/account',
  end: 'everything',
  logout: 'yes',
  decision: 'allow',
  user_code: 'BCDF-GHJK',
};

describe.each(FORMS)('the form of %s', (path, visit) => {
  /** One visit for all tests, since a refused form does not change it. */
  let visited: Awaited<ReturnType<typeof visit>>;
  beforeAll(async () => {
    visited = await visit();
  });

  async function send(
    token: (page: Page) => string | undefined,
    fields: Record<string, string> = {},
    more = '',
  ) {
    const { browser, page } = visited;
    const csrf = token(page);
    const form = new URLSearchParams({ ...VALID, ...(csrf !== undefined && { csrf }) });
    const action = path.replace('/interaction/:uid', new URL(page.url).pathname);
    const sent = `${form.toString()}${more}`;
    const answer = await browser.request('POST', action, sent, fields);
    const account = await browser.open('/account');
    return { answer, stillSignedIn: account.text.includes('/sign-out') };
  }

  test.each<[string, (page: Page) => string | undefined, Record<string, string>]>([
    ['no token', () => undefined, {}],
    ['an empty token', () => '', {}],
    ['a token of somebody else', () => 'AAAAAAAAAAAAAAAAAAAAAA', {}],
    ['a part of the token', (page) => csrfOf(page).slice(1), {}],
    ['another origin', csrfOf, { origin: 'https://evil.example' }],
    ['the origin of a sandbox', csrfOf, { origin: 'null' }],
    ['an origin that begins like ours', csrfOf, { origin: 'http://localhost:3000.evil.example' }],
  ])('a form with %s is refused, and has no effect', async (_what, token, fields) => {
    const { answer, stillSignedIn } = await send(token, fields);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.text).toContain('This page is too old');
    expect(stillSignedIn).toBe(true);
  });

  test('a form without the cookie is refused, since the token is not enough', async () => {
    const { answer } = await send(csrfOf, { cookie: '' });
    expect(answer.status).toBe(403);
  });

  test.each([
    ['415', { 'content-type': 'application/json' }, ''],
    ['415', { 'content-type': 'multipart/form-data; boundary=x' }, ''],
    ['415', { 'content-type': 'text/plain' }, ''],
    ['400', {}, '&decision=deny'],
    ['400', {}, '&csrf=x'],
    ['400', {}, '&__proto__=1&__proto__=2'],
    ['413', {}, `&x=${'a'.repeat(17_000)}`],
  ])(
    'the form gets %s for the content %j %.20s',
    async (status, fields: Record<string, string>, more) => {
      const { answer, stillSignedIn } = await send(csrfOf, fields, more);
      expect(answer.status).toBe(Number(status));
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(stillSignedIn).toBe(true);
    },
  );
});

test.each([
  ['with an invented value', () => 'AAAAAAAAAAAAAAAAAAAAAA'],
  ['of the same length', (token: string) => token.replace(/./g, 'A')],
  ['without its signature', (token: string) => token.split('.')[0] ?? ''],
  ['with the signature of another cookie', (token: string) => `x${token}`],
  ['that is empty', () => ''],
])('RFC 6265 section 8.6: a cookie %s is not accepted, and is replaced', async (_, made) => {
  const { browser, page } = await signedIn();
  const ours = () => browser.cookies.find(({ name }) => name === 'countersign-csrf')?.value ?? '';
  const [csrf, forged] = [csrfOf(page), made(ours())];
  const others = browser.cookies.filter(({ name }) => name !== 'countersign-csrf');
  const cookie = [...others, { name: 'countersign-csrf', value: forged }]
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
  const form = new URLSearchParams({ csrf, end: 'everything' });
  expect((await browser.request('POST', '/account', form, { cookie })).status).toBe(403);
  const anew = await browser.request('GET', '/account/end', undefined, { cookie });
  expect(anew.text).toContain('/sign-out');
  expect(csrfOf(anew)).not.toBe(csrf);
  expect(ours()).not.toBe(forged);
  const good = { cookie: cookie.replace(forged, ours()) };
  const sent = new URLSearchParams({ csrf: csrfOf(anew), end: 'nothing' });
  if (forged !== '') {
    expect((await browser.request('POST', '/account', sent, good)).status).not.toBe(403);
  }
});

test('a browser that uses another name of this machine is sent to the issuer, where forms are accepted', async () => {
  const { browser, page } = await signedIn();
  const form = new URLSearchParams({ csrf: csrfOf(page), end: 'everything' });
  const origin = site.url;
  const { status, text } = await browser.request('POST', '/account', form, { origin });
  expect(status).toBe(403);
  expect(text).toContain(`href="${new URL(page.url).origin}/account"`);
});

test('after a form whose connection breaks off, the server answers further requests', async () => {
  const { browser, page } = await signedIn();
  const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
  const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  socket.write(
    `POST /account HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 999\r\n\r\ncsrf=${csrfOf(page)}`,
    () => socket.destroy(),
  );
  await new Promise((resolve) => socket.on('close', resolve));
  expect((await browser.open('/account')).status).toBe(200);
});

test.each(['%', '%zz', '%ff%fe', '&&&===', '=', 'csrf'])(
  'a form with the content %j gets 403',
  async (content) => {
    const { browser } = await signedIn();
    expect((await browser.request('POST', '/account', content)).status).toBe(403);
  },
);

test('an answer has one token and sets one cookie, however many forms it has', async () => {
  const page = await site.browser().open(site.authorize({ prompt: 'login' }));
  const tokens = page.forms.flatMap(({ fields }) => new Map(fields).get('csrf') ?? []);
  expect(tokens.length).toBeGreaterThan(1);
  expect(new Set(tokens).size).toBe(1);
  const set = page.headers.getSetCookie().filter((line) => line.includes('countersign-csrf='));
  expect(set).toHaveLength(1);
});

test('no page contains the cookie, and the token of a form does not work as the cookie', async () => {
  const browser = site.browser();
  const page = await browser.open('/account');
  const cookie = browser.cookies.find(({ name }) => name === 'countersign-csrf')?.value ?? '';
  expect(cookie).not.toBe('');
  for (const part of cookie.split('.')) expect(page.text).not.toContain(part);
  const thief = site.browser();
  thief.plant({
    cookies: [{ name: 'countersign-csrf', line: `countersign-csrf=${csrfOf(page)}; path=/` }],
  });
  expect((await thief.submit(page, ALICE, '/sign-in')).status).toBe(403);
});

test('only the first call for a request makes a secret', () => {
  const set: string[] = [];
  const cookies = { get: () => undefined, set: (_name: string, value: string) => set.push(value) };
  const visit = () => ({ req: {}, cookies }) as unknown as Context;
  const { config, master, random } = site.server;
  const parts = { config, master, random };
  const one = visit();
  const secret = createCsrf(parts).browserSecret(one);
  expect([createCsrf(parts).browserSecret(one), set]).toEqual([secret, [secret]]);
  expect(createCsrf(parts).browserSecret(visit())).not.toBe(secret);
});

describe('the cookies of the server', () => {
  test('over https the cookies are for this host only (RFC 6265bis section 4.1.3.2)', async () => {
    await using secure = await testSite({
      issuer: 'https://auth.example',
      resource: 'https://api.example',
    });
    const browser = secure.browser();
    const page = await browser.submit(await browser.open('/account'), ALICE);
    expect(page.text).toContain('/sign-out');
    await browser.open(secure.authorize());
    for (const { name, line } of browser.cookies) {
      const own = !/interaction|resume/.test(name);
      expect(name).toMatch(own ? /^__Host-/ : /^__Secure-/);
      if (own) expect(line).toMatch(/; path=\//i);
      expect(line).toMatch(/; secure/i);
      expect(line).toMatch(/; httponly/i);
      expect(line).toMatch(/; samesite=lax/i);
      expect(line).not.toMatch(/; domain=/i);
    }
    expect(browser.cookies.length).toBeGreaterThan(5);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { signIn, title } from '../../flows/browser.fixture.ts';
import { rawHttp, statusOf } from '../../parts/raw-http.ts';
import { FRONTS, type SignInSite, startSignInSite } from './sign-in-site.ts';

const NAVIGATION = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** A browser before an application that knows nothing of us, and the gateway, nginx or Caddy between the two. */
describe.each(FRONTS)('%s', (front) => {
  let site: SignInSite;
  beforeAll(async () => {
    site = await startSignInSite(front);
  });
  afterAll(async () => site[Symbol.asyncDispose]());
  beforeEach(() => {
    site.application.reached = [];
  });

  const ask = (path: string, init: RequestInit = {}) =>
    fetch(site.origin + path, { redirect: 'manual', ...init });
  const navigate = (path: string, headers: Record<string, string> = {}) =>
    ask(path, { headers: { ...NAVIGATION, ...headers } });
  /** The cookie that an answer sets, as a browser sends it back. */
  const cookieOf = (response: Response) =>
    response.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
  const cookiesOf = async (page: Page) =>
    (await page.context().cookies(site.origin))
      .filter(({ name }) => name.includes('countersign-'))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  const locationOf = (response: Response) => new URL(response.headers.get('location') ?? '');
  const seen = (page: Page) => page.locator('#at').innerText();

  describe('signing in', () => {
    test('first visit: nobody is asked for consent, and the application knows who it is', async () => {
      const { page } = await site.visit();
      await page.goto(site.origin);
      expect(page.url()).toContain(site.pair.issuer);
      expect(site.application.reached).toEqual([]);
      await signIn(page, site.alice);
      await page.waitForURL(`${site.origin}/`);
      expect(await title(page)).toBe('Hello alice');
      expect(site.application.reached[0]?.headers).toMatchObject({
        'x-auth-subject': site.alice.id,
        'x-auth-name': 'alice',
        'x-auth-scheme': 'Session',
      });
    });

    test('a deep link with a query leads where it points', async () => {
      const { page } = await site.visit();
      const path = '/notes/7?tag=a%20b&tag=%C3%BC&next=//evil.example';
      await page.goto(site.origin + path);
      await signIn(page, site.alice);
      await page.waitForURL(site.origin + path);
      expect(await seen(page)).toBe(`GET ${path}`);
    });

    test('two tabs begin, each goes on to where it wanted', async () => {
      const { context, page } = await site.visit();
      const other = await context.newPage();
      await page.goto(`${site.origin}/one`);
      await other.goto(`${site.origin}/two`);
      await signIn(other, site.alice);
      await other.waitForURL(`${site.origin}/two`);
      await signIn(page, site.alice);
      await page.waitForURL(`${site.origin}/one`);
      expect(await title(page)).toBe('Hello alice');
    });

    test('who signed in elsewhere needs no password here', async () => {
      const { context, page } = await site.signedIn();
      await context.clearCookies({ name: /countersign-session-./ });
      await page.goto(`${site.origin}/again`);
      expect(await seen(page)).toBe('GET /again');
    });

    test('the application gets its own cookies, and none of ours', async () => {
      const { context, page } = await site.signedIn();
      await context.addCookies([
        { name: 'theme', value: 'dark', url: site.origin },
        { name: 'z', value: 'a=b', url: site.origin },
      ]);
      site.application.reached = [];
      await page.goto(`${site.origin}/`);
      const [reached] = site.application.reached;
      const cookies = String(reached?.headers.cookie).split('; ');
      expect(cookies.filter((one) => /^(?:theme|z)=/.test(one))).toEqual(['theme=dark', 'z=a=b']);
      expect(JSON.stringify(reached)).not.toMatch(/countersign-(?:session|visit|arrived)/);
    });

    test('what the client writes of who it is, is replaced', async () => {
      const { page } = await site.signedIn();
      site.application.reached = [];
      await ask('/', {
        headers: {
          cookie: await cookiesOf(page),
          'x-auth-subject': 'somebody-else',
          'x-auth-email': 'somebody-else@example.com',
          'x-auth-groups': 'somebody-else',
        },
      });
      expect(site.application.reached).toHaveLength(1);
      expect(JSON.stringify(site.application.reached)).not.toContain('somebody-else');
    });
  });

  describe('what is no navigation', () => {
    test('a fetch by a page whose session has ended is 401, and leads nowhere', async () => {
      const { context, page } = await site.signedIn();
      await context.clearCookies();
      const answer = await page.evaluate(`fetch('/notes', { headers: { Accept: 'text/html' } })
        .then((response) => [response.status, response.redirected])`);
      expect(answer).toEqual([401, false]);
    });

    test('a client without credentials is told which there are, once (RFC 9110 section 11.6.1)', async () => {
      const response = await ask('/notes');
      expect(response.status).toBe(401);
      const challenges = response.headers.get('www-authenticate') ?? '';
      expect(challenges.match(/Bearer realm="Notes"/g)).toHaveLength(1);
      expect(response.headers.getSetCookie()).toEqual([]);
    });

    test.each([
      ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
      ['an image', { 'sec-fetch-dest': 'image' }],
      ['a frame', { 'sec-fetch-dest': 'iframe' }],
      ['a page that is fetched ahead', { 'sec-purpose': 'prefetch' }],
      ['JSON', { accept: 'application/json' }],
    ])('%s: 401', async (_what, headers) => {
      expect((await navigate('/notes', headers as Record<string, string>)).status).toBe(401);
    });

    test('a POST that meets an ended session: 409, nothing of it was taken, and there is a way on', async () => {
      const { context, page } = await site.signedIn();
      await context.clearCookies({ name: /countersign-session-./ });
      site.application.reached = [];
      const [answer] = await Promise.all([
        page.waitForResponse(({ url }) => url.endsWith('/notes') || true),
        page.getByRole('button', { name: 'Save' }).click(),
      ]).catch(() => []);
      void answer;
      await page.waitForURL(`${site.origin}/notes`);
      expect(await title(page)).toBe('Nobody is signed in any more');
      expect(site.application.reached).toEqual([]);
      const [tab] = await Promise.all([
        context.waitForEvent('page'),
        page.getByRole('link', { name: 'Sign in in another tab' }).click(),
      ]);
      await tab.waitForURL(`${site.origin}/`);
      await page.reload();
      expect(await seen(page)).toBe('POST /notes');
      expect(site.application.reached.at(-1)?.body).toBe('note=what+I+wrote');
    });
  });

  describe('other credentials', () => {
    test('a token lets a client in beside a cookie of nobody', async () => {
      const { id, secret } = await site.pair.addClient('openid');
      const { body } = await site.pair.post(
        '/token',
        { grant_type: 'client_credentials', resource: `${site.origin}/` },
        { id, secret },
      );
      void body;
      const { page } = await site.signedIn();
      const [session = ''] = (await cookiesOf(page)).match(/countersign-session-[^=]*/) ?? [];
      const response = await ask('/', {
        headers: { authorization: 'Bearer x.y.z', cookie: `${session}=${'A'.repeat(43)}` },
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('invalid_token');
    });
  });

  describe('ended', () => {
    test('on the account page: the next request signs in anew', async () => {
      const { context, page } = await site.signedIn();
      const headers = { cookie: await cookiesOf(page) };
      expect((await ask('/', { headers })).status).toBe(200);
      const account = await context.newPage();
      await account.goto(`${site.pair.issuer}/account`);
      const entry = account.locator('li', { hasText: 'Notes' });
      await entry.getByRole('button').click();
      expect((await ask('/', { headers })).status).toBe(401);
      expect((await navigate('/', headers)).status).toBe(303);
    });

    test.each([
      ['user end', ['user', 'end']],
      ['user disable', ['user', 'disable']],
    ])('%s: refused by the next request', async (_what, command) => {
      const person = await site.pair.addPerson(`bob-${command[1]}`);
      const { page } = await site.visit();
      await page.goto(site.origin);
      await signIn(page, person);
      await page.waitForURL(`${site.origin}/`);
      const headers = { cookie: await cookiesOf(page) };
      expect((await ask('/', { headers })).status).toBe(200);
      await site.pair.cli(...command, person.name);
      expect((await ask('/', { headers })).status).toBe(401);
    });

    test('signing out at the authorization server ends it', async () => {
      const { context, page } = await site.signedIn();
      const headers = { cookie: await cookiesOf(page) };
      const tab = await context.newPage();
      await tab.goto(`${site.pair.issuer}/sign-out`);
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await tab.waitForLoadState();
      expect((await ask('/', { headers })).status).toBe(401);
    });

    test('signing out by a form of the application: the cookie is dead, wherever it was copied to', async () => {
      const { page } = await site.signedIn();
      const headers = { cookie: await cookiesOf(page) };
      await page.getByRole('button', { name: 'Leave' }).click();
      await page.waitForURL(`${site.origin}/.countersign/sign-out`);
      expect(await title(page)).toBe('You are signed out');
      expect((await ask('/', { headers })).status).toBe(401);
      expect(await cookiesOf(page)).not.toContain('countersign-session-');
    });

    test('our own page asks first, and may not be sent by another origin', async () => {
      const { page } = await site.signedIn();
      const headers = { cookie: await cookiesOf(page) };
      await page.goto(`${site.origin}/.countersign/sign-out`);
      expect(await title(page)).toBe('Sign out?');
      for (const foreign of [
        { origin: 'https://evil.example' },
        { origin: 'null', 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        {},
      ]) {
        const response = await ask('/.countersign/sign-out', {
          method: 'POST',
          headers: { ...headers, ...foreign } as Record<string, string>,
        });
        expect(response.status).toBe(403);
      }
      expect((await ask('/', { headers })).status).toBe(200);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${site.origin}/.countersign/sign-out`);
      expect(await title(page)).toBe('You are signed out');
    });
  });

  describe('attacks', () => {
    /** What the browser is sent back with, and not let go on with. */
    async function callback() {
      const { context, page } = await site.visit();
      const answered = page.waitForRequest(({ url }) => url().includes('/.countersign/callback'));
      await page.route('**/.countersign/callback?*', (route) => route.abort());
      await page.goto(`${site.origin}/wanted`);
      await signIn(page, site.alice).catch(() => {});
      const url = new URL((await answered).url());
      const cookie = await cookiesOf(page);
      return { path: url.pathname + url.search, cookie, context, page, url };
    }

    test('login CSRF: a callback that somebody else has begun signs nobody in (RFC 6749 section 10.12)', async () => {
      const { path } = await callback();
      const { page } = await site.visit();
      const response = await page.goto(site.origin + path);
      expect(response?.status()).toBe(400);
      expect(await title(page)).toBe('This sign-in does not go on');
      expect(await cookiesOf(page)).toBe('');
    });

    test('a transaction cookie that was stolen is of no use once it was used, nor without its code', async () => {
      const { path, cookie, url } = await callback();
      const without = new URL(url);
      without.searchParams.delete('code');
      const early = await ask(without.pathname + without.search, { headers: { cookie } });
      expect(early.status).toBe(503);
      const { page } = await site.visit();
      await page.goto(site.origin);
      const mixed = await ask(path, { headers: { cookie: await cookiesOf(page) } });
      expect(mixed.status).toBe(400);
      expect((await ask(path, { headers: { cookie } })).status).toBe(303);
      const again = await ask(path, { headers: { cookie } });
      expect(again.headers.getSetCookie().join()).not.toMatch(/countersign-session-[^=]*=[^;]/);
    });

    test('of ten callbacks at once one gets a session, and it stays good', async () => {
      const { path, cookie } = await callback();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => ask(path, { headers: { cookie } })),
      );
      const lines = answers.map((response) => cookieOf(response));
      const sessions = lines.flatMap((line) => /[^ ]*countersign-session-[^=]*=[\w-]{43}/.exec(line)?.[0] ?? []);
      expect(sessions).toHaveLength(1);
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
      expect((await ask('/', { headers: { cookie: sessions[0] ?? '' } })).status).toBe(200);
    });

    test.each([
      ['another issuer (RFC 9207 section 2.4)', (query: URLSearchParams) => query.set('iss', 'https://evil.example'), 400],
      ['no issuer', (query: URLSearchParams) => query.delete('iss'), 400],
      ['two codes', (query: URLSearchParams) => query.append('code', 'other'), 400],
      ['another state', (query: URLSearchParams) => query.set('state', 'A'.repeat(43)), 400],
      ['another code', (query: URLSearchParams) => query.set('code', 'A'.repeat(43)), 503],
      ['what is no code', (query: URLSearchParams) => query.set('code', 'a b'), 503],
      ['a refusal', (query: URLSearchParams) => { query.delete('code'); query.set('error', 'access_denied'); }, 403],
    ])('%s: a page, and no session', async (_what, change, status) => {
      const { url, cookie } = await callback();
      change(url.searchParams);
      const response = await ask(url.pathname + url.search, { headers: { cookie } });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(response.headers.getSetCookie().join()).not.toMatch(/countersign-session-[^=]*=[^;]/);
    });

    test('open redirect: a parameter leads nowhere', async () => {
      const { path, cookie } = await callback();
      const more = '&path=//evil.example&return=https://evil.example&redirect_uri=https://evil.example';
      const response = await ask(path + more, { headers: { cookie } });
      expect(response.headers.get('location')).toBe(`${site.origin}/wanted`);
    });

    test.each(['//evil.example/', '/\\evil.example/', '/%5Cevil.example', '/%2F/evil.example', '/a%0d%0aSet-Cookie:x'])(
      'open redirect: a visit of %s never ends at another origin',
      async (target) => {
        const fields = Object.entries(NAVIGATION).map(([name, value]) => `${name}: ${value}`);
        const text = await rawHttp(
          site.origin,
          `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n`,
        );
        if (statusOf(text) !== 303) return expect([400, 403, 404]).toContain(statusOf(text));
        expect(text).toContain(`ocation: ${site.pair.issuer}/auth?`);
        expect(text).not.toMatch(/^x/im);
        const [cookie = ''] = /countersign-visit-[^;]*/.exec(text) ?? [];
        const [, state = ''] = /[?&]state=([\w-]+)/.exec(text) ?? [];
        const query = new URLSearchParams({ state, error: 'access_denied', iss: site.pair.issuer });
        const page = await (await ask(`/.countersign/callback?${query}`, { headers: { cookie } })).text();
        const [, href = ''] = /href="([^"]*)"/.exec(page) ?? [];
        expect(new URL(href, site.origin).origin).toBe(site.origin);
      },
    );

    test('at most five sign-ins are under way in a browser, and whoever comes by leaves no row', async () => {
      const jar = new Map<string, string>();
      for (let n = 0; n < 12; n += 1) {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await navigate(`/${n}`, { cookie });
        expect(response.status).toBe(303);
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
          if (line.includes('Max-Age=0')) jar.delete(name);
          else jar.set(name, value);
        }
        expect(jar.size).toBeLessThanOrEqual(5);
      }
      expect(jar.size).toBe(5);
    });

    test('cookies that somebody planted keep nobody from signing in', async () => {
      const response = await navigate('/');
      const [name = ''] = cookieOf(response).split('=');
      const planted = Array.from({ length: 40 }, (_, n) =>
        name.replace(/visit-[\w-]{12}/, `visit-${String(n).padStart(12, '0')}`),
      ).map((one) => `${one}=junk`);
      const again = await navigate('/', { cookie: planted.join('; ') });
      expect(again.status).toBe(303);
      expect(again.headers.getSetCookie().length).toBeLessThanOrEqual(21);
      const session = name.replace(/visit-[\w-]{12}/, 'session');
      for (const cookie of [`${session}=`, `${session}=x; ${session}=y`, `${session}=${'x'.repeat(3000)}`]) {
        expect((await navigate('/', { cookie })).status).toBe(303);
      }
    });

    test('session fixation: who signs in gets another secret, and that of before is dead', async () => {
      const { context, page } = await site.signedIn();
      const before = await cookiesOf(page);
      await context.clearCookies({ domain: '127.0.0.1', name: /countersign-(?:session|session\.sig)$/ });
      const { path, cookie } = await callback();
      const [session = ''] = /[^ ]*countersign-session-[^;]*/.exec(before) ?? [];
      const response = await ask(path, { headers: { cookie: `${cookie}; ${session}` } });
      expect(cookieOf(response)).toMatch(/countersign-session-[^=]*=[\w-]{43}/);
      expect(cookieOf(response)).not.toContain(session);
      expect((await ask('/', { headers: { cookie: session } })).status).toBe(401);
    });

    test('a page of another origin cannot write with the session', async () => {
      const { page } = await site.signedIn();
      const cookie = await cookiesOf(page);
      site.application.reached = [];
      const foreign = { cookie, origin: 'http://127.0.0.1:1' };
      expect((await ask('/notes', { method: 'POST', headers: foreign })).status).toBe(403);
      const handshake = { ...foreign, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
      if (front !== 'gateway') expect((await ask('/', { headers: handshake })).status).toBe(403);
      expect(site.application.reached).toEqual([]);
      const own = { cookie, origin: site.origin };
      expect((await ask('/notes', { method: 'POST', headers: own })).status).toBe(200);
    });

    test('where the session does not stay, an explanation ends the circle', async () => {
      const { page } = await site.signedIn();
      await page.route(`${site.origin}/**`, async (route) => {
        const request = route.request();
        const cookie = (await request.allHeaders())['cookie'] ?? '';
        const without = cookie.split('; ').filter((one) => !/countersign-session-./.test(one));
        await route.continue({ headers: { ...(await request.allHeaders()), cookie: without.join('; ') } });
      });
      void page;
      const jar = new Map<string, string>();
      void jar;
    });
  });

  test('the client and the redirect are as configured', async () => {
    const to = locationOf(await navigate('/notes?a=b'));
    expect(to.origin + to.pathname).toBe(`${site.pair.issuer}/auth`);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      client_id: expect.stringMatching(/^sign-in-[\w-]{16}$/),
      response_type: 'code',
      redirect_uri: `${site.origin}/.countersign/callback`,
      scope: 'openid',
      resource: `${site.origin}/`,
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });
});

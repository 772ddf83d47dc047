import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { signIn, title } from '../../flows/browser.fixture.ts';
import { rawHttp, statusOf } from '../../parts/raw-http.ts';
import { type Call, type Reply, send } from './send.ts';
import { FRONTS, type SignInSite, startSignInSite } from './sign-in-site.ts';

const NAVIGATION = {
  accept: 'text/html',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** A browser at an application that knows the identity fields only, behind the gateway, nginx or Caddy. */
describe.each(FRONTS)('%s', (front) => {
  let site: SignInSite;
  beforeAll(async () => {
    site = await startSignInSite(front);
  });
  afterAll(async () => site[Symbol.asyncDispose]());
  beforeEach(() => {
    site.application.reached = [];
  });

  /** Sends exactly these fields, because `fetch` sets Sec-Fetch-Mode itself. */
  const ask = (path: string, more: Call = {}) => send(site.origin + path, more);
  const navigate = (path: string, headers: Record<string, string> = {}) =>
    ask(path, { headers: { ...NAVIGATION, ...headers } });
  /** The cookies that an answer sets, as a browser returns them. */
  const cookieOf = ({ cookies }: Reply) => cookies.map((line) => line.split(';')[0]).join('; ');
  const cookiesOf = async (page: Page) =>
    (await page.context().cookies(site.origin))
      .filter(({ name }) => name.includes('countersign-'))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  const locationOf = ({ headers }: Reply) => new URL(headers.location ?? '');
  /** The cookies of alice's browser at the authorization server. */
  let issuerCookies: string | undefined;
  async function ofIssuer(): Promise<string> {
    if (issuerCookies !== undefined) return issuerCookies;
    const { context } = await site.signedIn();
    const found = await context.cookies(site.pair.issuer);
    issuerCookies = found.map(({ name, value }) => `${name}=${value}`).join('; ');
    return issuerCookies;
  }
  const seen = (page: Page) => page.locator('#at').innerText();

  describe('signing in', () => {
    test('first visit: the person is not asked for consent, and the application gets the identity', async () => {
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
        'remote-user': 'alice',
      });
    });

    test('a deep link with a query leads to its target after sign-in', async () => {
      const { page } = await site.visit();
      const path = '/notes/7?tag=a%20b&tag=%C3%BC&next=//evil.example';
      await page.goto(site.origin + path);
      await signIn(page, site.alice);
      await page.waitForURL(site.origin + path);
      expect(await seen(page)).toBe(`GET ${path}`);
    });

    test('if two tabs begin a sign-in, each returns to its own target', async () => {
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

    test('a person with a session at the authorization server needs no password', async () => {
      const { context, page } = await site.signedIn();
      await context.clearCookies({ name: /countersign-session-./ });
      await page.goto(`${site.origin}/again`);
      expect(await seen(page)).toBe('GET /again');
    });

    test("the application gets its own cookies, and none of Countersign's", async () => {
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

    test('identity fields of the client are replaced', async () => {
      const { page } = await site.signedIn();
      site.application.reached = [];
      await ask('/', {
        headers: {
          cookie: await cookiesOf(page),
          'x-auth-subject': 'somebody-else',
          'x-auth-email': 'somebody-else@example.com',
          'x-auth-groups': 'somebody-else',
          'remote-user': 'somebody-else',
          'remote-groups': 'somebody-else',
          Remote_User: 'somebody-else',
        },
      });
      expect(site.application.reached).toHaveLength(1);
      expect(JSON.stringify(site.application.reached)).not.toContain('somebody-else');
    });
  });

  describe('requests that are no navigation', () => {
    test("a fetch after the session's end gets 401 without a redirect", async () => {
      const { context, page } = await site.signedIn();
      await context.clearCookies();
      const answer = await page.evaluate(`fetch('/notes', { headers: { Accept: 'text/html' } })
        .then((response) => [response.status, response.redirected])`);
      expect(answer).toEqual([401, false]);
    });

    test('a client without credentials gets each challenge once (RFC 9110 section 11.6.1)', async () => {
      const response = await ask('/notes');
      expect(response.status).toBe(401);
      const challenges = response.headers['www-authenticate'] ?? '';
      expect(challenges.match(/Bearer realm="Notes"/g)).toHaveLength(1);
      expect(response.cookies).toEqual([]);
    });

    test.each([
      ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
      ['an image', { 'sec-fetch-dest': 'image' }],
      ['a frame', { 'sec-fetch-dest': 'iframe' }],
      ['a prefetched page', { 'sec-purpose': 'prefetch' }],
      ['JSON', { accept: 'application/json' }],
    ])('%s gets 401', async (_what, headers) => {
      expect((await navigate('/notes', headers as Record<string, string>)).status).toBe(401);
    });

    const LYNX = {
      accept: 'text/html, text/plain, text/sgml, */*;q=0.01',
      'user-agent': 'Lynx/2.9.0dev.12 libwww-FM/2.14',
    };

    test.each([
      ['lynx', LYNX],
      ['Java', { accept: 'text/html, image/gif, */*; q=.2', 'user-agent': 'Java/17.0.12' }],
    ])(
      '%s accepts pages: 401 with every challenge (RFC 9110 section 15.5.2)',
      async (_what, headers) => {
        const response = await ask('/notes', { headers });
        expect(response.status).toBe(401);
        expect(response.headers['www-authenticate']).toContain('Bearer realm="Notes"');
        expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
        expect(response.headers['cache-control']).toBe('no-store');
        expect(response.text).toMatch(/<code>[\w-]{16,}<\/code>/);
      },
    );

    test('the page of a 401 leads through sign-in and back to the requested page', async () => {
      const refused = await ask('/notes/7?a=b', { headers: LYNX });
      const [, link = ''] = /<a [^>]*href="([^"]*)"/.exec(refused.text) ?? [];
      const location = link.replaceAll('&amp;', '&');
      const back = await send(location, { headers: { ...LYNX, cookie: await ofIssuer() } });
      const cookie = cookieOf(refused);
      const there = await send(back.headers.location ?? '', { headers: { ...LYNX, cookie } });
      expect([there.status, there.headers.location]).toEqual([303, `${site.origin}/notes/7?a=b`]);
    });

    test("a POST after the session's end gets 409, does nothing, and shows a link to go on", async () => {
      const { context, page } = await site.signedIn();
      await context.clearCookies({ name: /countersign-session-./ });
      site.application.reached = [];
      await page.getByRole('button', { name: 'Save' }).click();
      await page.waitForURL(`${site.origin}/notes`);
      expect(await title(page)).toBe('You are no longer signed in');
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

  describe('credentials beside the session cookie', () => {
    async function bearer() {
      const client = await site.pair.addClient('notes:read');
      const grant = { grant_type: 'client_credentials', resource: `${site.origin}/` };
      const { body } = await site.pair.post('/token', grant, client);
      return { authorization: `Bearer ${String(body['access_token'])}`, client };
    }

    test('a valid token is admitted, with any cookie', async () => {
      const { authorization, client } = await bearer();
      const { page } = await site.signedIn();
      const good = await cookiesOf(page);
      const [session = ''] = /[^ ]*countersign-session-[^=]*/.exec(good) ?? [];
      for (const cookie of [good, `${session}=${'A'.repeat(43)}`, `${session}=x; ${session}=y`]) {
        site.application.reached = [];
        expect((await ask('/', { headers: { authorization, cookie } })).status).toBe(200);
        expect(site.application.reached[0]?.headers).toMatchObject({
          'x-auth-subject': client.id,
          'x-auth-scheme': 'Bearer',
        });
      }
    });

    test('an invalid token is refused, with any cookie', async () => {
      const { page } = await site.signedIn();
      const headers = { authorization: 'Bearer x.y.z', cookie: await cookiesOf(page) };
      site.application.reached = [];
      const response = await ask('/', { headers });
      expect(response.status).toBe(401);
      expect(response.headers['www-authenticate']).toContain('invalid_token');
      expect(site.application.reached).toEqual([]);
    });

    test("an Authorization field of the application's own scheme does not block a session", async () => {
      const { page } = await site.signedIn();
      const headers = { authorization: 'MediaBrowser Token="x"', cookie: await cookiesOf(page) };
      expect((await ask('/', { headers })).status).toBe(200);
      expect((await ask('/', { headers: { authorization: headers.authorization } })).status).toBe(
        401,
      );
    });

    test("the session's secret is refused in Authorization", async () => {
      const { page } = await site.signedIn();
      const [, secret = ''] = /countersign-session-[^=]*=([^;]*)/.exec(await cookiesOf(page)) ?? [];
      expect((await ask('/', { headers: { authorization: `Session ${secret}` } })).status).toBe(
        401,
      );
    });
  });

  describe('a session that is revoked', () => {
    test('on the account page: the next request leads to another sign-in', async () => {
      const { context, page } = await site.signedIn({}, await site.pair.addPerson('carol'));
      const headers = { cookie: await cookiesOf(page) };
      expect((await ask('/', { headers })).status).toBe(200);
      const account = await context.newPage();
      await account.goto(`${site.pair.issuer}/account`);
      await account.getByRole('button', { name: 'End the access of Notes', exact: true }).click();
      await account.getByRole('button', { name: 'End the access', exact: true }).click();
      await account.waitForURL('**/account?done=application.*');
      expect((await ask('/', { headers })).status).toBe(401);
      expect((await navigate('/', headers)).status).toBe(303);
    });

    test.each([
      ['user end', ['user', 'end']],
      ['user disable', ['user', 'disable']],
    ])('by %s is refused from the next request on', async (_what, command) => {
      const person = await site.pair.addPerson(`bob-${command[1]}`);
      const { page } = await site.signedIn({}, person);
      const headers = { cookie: await cookiesOf(page) };
      expect((await ask('/', { headers })).status).toBe(200);
      await site.pair.cli(...command, person.name);
      expect((await ask('/', { headers })).status).toBe(401);
    });

    test('several times within a minute leads to the sign-in page each time', async () => {
      const person = await site.pair.addPerson('bob-again');
      const { page } = await site.signedIn({}, person);
      for (let round = 0; round < 3; round += 1) {
        await site.pair.cli('user', 'end', person.name);
        await page.goto(site.origin);
        expect(page.url()).toContain(site.pair.issuer);
        await signIn(page, person);
        await page.waitForURL(`${site.origin}/`);
      }
    });

    test('by sign-out at the authorization server is refused', async () => {
      const { context, page } = await site.signedIn();
      const headers = { cookie: await cookiesOf(page) };
      const tab = await context.newPage();
      await tab.goto(`${site.pair.issuer}/sign-out`);
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await tab.waitForLoadState();
      expect((await ask('/', { headers })).status).toBe(401);
    });

    test('by a form of the application is refused, also with a copied cookie', async () => {
      const { page } = await site.signedIn();
      const headers = { cookie: await cookiesOf(page) };
      await page.getByRole('button', { name: 'Leave' }).click();
      await page.waitForURL(`${site.origin}/.countersign/sign-out`);
      expect(await title(page)).toBe('You are signed out');
      expect((await ask('/', { headers })).status).toBe(401);
      expect(await cookiesOf(page)).not.toContain('countersign-session-');
    });

    test('by the sign-out page, which asks first, and refuses forms of another origin', async () => {
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
          headers: { ...headers, ...foreign },
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
    /** Returns the callback of a signed-in browser, and the cookies of the sign-in's start. */
    async function callback(begun?: Reply) {
      const visit = begun ?? (await navigate('/wanted'));
      const cookie = await ofIssuer();
      const url = locationOf(await send(visit.headers.location ?? '', { headers: { cookie } }));
      return { url, path: url.pathname + url.search, cookie: cookieOf(visit) };
    }

    test('login CSRF: a callback that another browser began signs in no person (RFC 6749 section 10.12)', async () => {
      const { path } = await callback();
      const { page } = await site.visit();
      // The tab begins another sign-in, after a visit of this browser.
      await page.goto(site.origin + path);
      expect(await title(page)).toBe('Sign in');
      expect(await cookiesOf(page)).not.toContain('countersign-session');
      const response = await page.goto(site.origin + path.replace(/state=[^&]*/, 'state=x'));
      expect(response?.status()).toBe(400);
      expect(await title(page)).toBe('This sign-in cannot continue');
    });

    test('a stolen transaction cookie is useless after its use, and without its code', async () => {
      const { path, cookie, url } = await callback();
      const without = new URL(url);
      without.searchParams.delete('code');
      const early = await ask(without.pathname + without.search, { headers: { cookie } });
      expect(early.status).toBe(503);
      const { page } = await site.visit();
      await page.goto(site.origin);
      const mixed = await ask(path, { headers: { cookie: await cookiesOf(page) } });
      expect(mixed.headers.location).toContain(`${site.pair.issuer}/auth?`);
      expect(mixed.cookies.join()).not.toContain('countersign-session');
      expect((await ask(path, { headers: { cookie } })).status).toBe(303);
      const again = await ask(path, { headers: { cookie } });
      expect(again.cookies.join()).not.toMatch(/countersign-session-[^=]*=[^;]/);
    });

    test('ten callbacks at once give one session, which stays valid', async () => {
      const { path, cookie } = await callback();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => ask(path, { headers: { cookie } })),
      );
      const lines = answers.map((response) => cookieOf(response));
      const sessions = lines.flatMap(
        (line) => /[^ ]*countersign-session-[^=]*=[\w-]{43}/.exec(line)?.[0] ?? [],
      );
      expect(sessions).toHaveLength(1);
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
      expect((await ask('/', { headers: { cookie: sessions[0] ?? '' } })).status).toBe(200);
    });

    test.each([
      [
        'another issuer (RFC 9207 section 2.4)',
        (query: URLSearchParams) => query.set('iss', 'https://evil.example'),
        400,
      ],
      ['no issuer', (query: URLSearchParams) => query.delete('iss'), 400],
      ['two codes', (query: URLSearchParams) => query.append('code', 'other'), 400],
      ['another state', (query: URLSearchParams) => query.set('state', 'A'.repeat(43)), 400],
      ['another code', (query: URLSearchParams) => query.set('code', 'A'.repeat(43)), 503],
      ['an invalid code', (query: URLSearchParams) => query.set('code', 'a b'), 503],
      [
        'a refusal',
        (query: URLSearchParams) => {
          query.delete('code');
          query.set('error', 'access_denied');
        },
        403,
      ],
    ])('%s gets a page and no session', async (_what, change, status) => {
      const { url, cookie } = await callback();
      change(url.searchParams);
      const response = await ask(url.pathname + url.search, { headers: { cookie } });
      expect(response.status).toBe(status);
      expect(response.headers['content-type']).toContain('text/html');
      expect(response.cookies.join()).not.toMatch(/countersign-session-[^=]*=[^;]/);
    });

    test('open redirect: no parameter decides on the target', async () => {
      const { path, cookie } = await callback();
      const more =
        '&path=//evil.example&return=https://evil.example&redirect_uri=https://evil.example';
      const response = await ask(path + more, { headers: { cookie } });
      expect(response.headers.location).toBe(`${site.origin}/wanted`);
    });

    test.each([
      '//evil.example/',
      '/\\evil.example/',
      '/%5Cevil.example',
      '/%2F/evil.example',
      '/a%0d%0aSet-Cookie:x',
    ])('open redirect: a visit of %s never ends at another origin', async (target) => {
      const fields = Object.entries(NAVIGATION).map(([name, value]) => `${name}: ${value}`);
      const text = await rawHttp(
        site.origin,
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${fields.join('\r\n')}\r\n\r\n`,
      );
      if (statusOf(text) !== 303) return expect([400, 403, 404]).toContain(statusOf(text));
      expect(text).toContain(`ocation: ${site.pair.issuer}/auth?`);
      expect(text).not.toMatch(/^set-cookie: ?x/im);
      const [cookie = ''] = /countersign-visit-[^;]*/.exec(text) ?? [];
      const [, state = ''] = /[?&]state=([\w-]+)/.exec(text) ?? [];
      const query = new URLSearchParams({ state, error: 'access_denied', iss: site.pair.issuer });
      const { text: page } = await ask(`/.countersign/callback?${query.toString()}`, {
        headers: { cookie },
      });
      const [, href = ''] = /<a [^>]*href="([^"]*)"/.exec(page) ?? [];
      expect(new URL(href, site.origin).origin).toBe(site.origin);
    });

    test('all sign-ins in progress in a browser share one cookie', async () => {
      const first = await navigate('/0');
      const cookie = cookieOf(first);
      for (let n = 1; n < 12; n += 1) {
        const response = await navigate(`/${n}`, { cookie });
        expect([response.status, cookieOf(response)]).toEqual([303, cookie]);
      }
    });

    test('planted cookies do not prevent a sign-in', async () => {
      const [name = ''] = cookieOf(await navigate('/')).split('=');
      const session = name.replace('visit', 'session');
      for (const cookie of [
        `${name}=x`,
        `${name}=${'x'.repeat(3000)}`,
        `${session}=`,
        `${session}=x; ${session}=y`,
        `${session}=${'x'.repeat(3000)}`,
      ]) {
        expect((await navigate('/', { cookie })).status).toBe(303);
      }
    });

    test.each([10, 30])(
      '%d tabs that a browser reopens at once each reach their own target',
      async (count) => {
        const { page, context } = await site.visit();
        await page.goto(`${site.pair.issuer}/account`);
        await signIn(page, site.alice);
        await page.getByRole('heading', { name: 'Your account', exact: true }).waitFor();
        // As after a browser restart: all tabs load at once, without the application's cookie.
        const tabs = await Promise.all(Array.from({ length: count }, () => context.newPage()));
        await Promise.all(tabs.map((tab, n) => tab.goto(`${site.origin}/notes/${n}`)));
        const ends = tabs.map((tab) => tab.url());
        expect(ends).toEqual(tabs.map((_, n) => `${site.origin}/notes/${n}`));
      },
    );

    test('session fixation: sign-in sets another secret, and the former secret is refused', async () => {
      const { page } = await site.signedIn();
      const before = await cookiesOf(page);
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
      const handshake = {
        ...foreign,
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version': '13',
      };
      if (front !== 'gateway') expect((await ask('/', { headers: handshake })).status).toBe(403);
      expect(site.application.reached).toEqual([]);
      const own = { cookie, origin: site.origin };
      expect((await ask('/notes', { method: 'POST', headers: own })).status).toBe(200);
    });

    test.each<[string, boolean, number]>([
      ['does not stay', false, 2],
      ['stays, and has ended each time', true, 9],
    ])('if the session %s, an explanation ends the redirect loop', async (_what, stays, rounds) => {
      let arrived = '';
      let session = '';
      const statuses: number[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const begun = await navigate('/', { cookie: `${arrived}; ${session}` });
        statuses.push(begun.status);
        if (begun.status !== 303) {
          expect(begun.text).toContain('Your sign-in was not kept');
          expect(begun.cookies.join()).toMatch(/countersign-arrived-[^=]*=;.*Max-Age=0/);
          break;
        }
        const { path, cookie } = await callback(begun);
        const back = await ask(path, { headers: { cookie: `${arrived}; ${cookie}` } });
        expect(back.status).toBe(303);
        [arrived = ''] = /[^ ]*countersign-arrived-[^;]*/.exec(cookieOf(back)) ?? [];
        const [name = ''] = /[^ ]*countersign-session-[^=]*/.exec(cookieOf(back)) ?? [];
        if (stays) session = `${name}=${randomBytes(32).toString('base64url')}`;
      }
      expect(statuses).toEqual([...Array<number>(rounds).fill(303), 403]);
    });
  });

  test('the client and the redirect URI are as configured', async () => {
    const to = locationOf(await navigate('/notes?a=b'));
    expect(to.origin + to.pathname).toBe(`${site.pair.issuer}/auth`);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      client_id: expect.stringMatching(/^sign-in-[\w-]{16}$/),
      response_type: 'code',
      redirect_uri: `${site.origin}/.countersign/callback`,
      scope: 'openid',
      resource: `${site.origin}/`,
      state: expect.stringMatching(/^[\w-]{200,}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });
});

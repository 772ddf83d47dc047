import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findAccess } from '#shared/people/access/grants.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { claimsOf, PASSWORD, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const ALICE = { name: 'alice', password: PASSWORD };
const OFFLINE = { scope: 'openid offline_access documents:read', prompt: 'consent' };
const signIns = async () =>
  listSignIns(site.server, (await site.server.stores.people.getByName('alice'))?.id ?? '');

/** Returns a browser in which alice has allowed `web` some access, and the resulting grant. */
async function signedIn(params: Record<string, string> = { prompt: 'consent' }) {
  const browser = site.browser();
  const consent = await browser.submit(await browser.open(site.authorize(params)), ALICE);
  const tokens = await site.redeem(await browser.submit(consent, { decision: 'allow' }));
  const grant = String(claimsOf(tokens['access_token'])['grant_id']);
  return { browser, tokens, grant };
}

async function refresh(token: unknown) {
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: 'web',
    refresh_token: String(token),
  });
  return (await fetched(`${site.url}/token`, { method: 'POST', body: form })).status;
}

const isOut = async ({ browser }: Awaited<ReturnType<typeof signedIn>>) =>
  (await browser.open('/account')).text.includes('type="password"');

describe('signing out at the top of a page', () => {
  test('the server asks first, and then ends the session and its grants', async () => {
    const visit = await signedIn();
    const before = await signIns();
    const asked = await visit.browser.open('/sign-out');
    expect(await isOut(visit)).toBe(false);
    const done = await visit.browser.submit(asked, { logout: 'yes' });
    expect(done.text).toContain('You are signed out');
    expect(await isOut(visit)).toBe(true);
    expect(await signIns()).toHaveLength(before.length - 1);
    expect(await findAccess(site.server, visit.grant)).toBeUndefined();
    expect(await refresh(visit.tokens['refresh_token'])).toBe(400);
  });

  test('offline access continues after the sign-out', async () => {
    const { browser, grant, tokens } = await signedIn(OFFLINE);
    await browser.submit(await browser.open('/sign-out'), { logout: 'yes' });
    expect(await findAccess(site.server, grant)).toBeDefined();
    expect(await refresh(tokens['refresh_token'])).toBe(200);
  });

  test('a person who stays signed in continues to the account', async () => {
    const visit = await signedIn();
    const page = await visit.browser.submit(await visit.browser.open('/sign-out'));
    expect(page.url).toBe('http://localhost:3000/account');
    expect(await isOut(visit)).toBe(false);
  });

  test('a stored cookie does not work after the sign-out', async () => {
    const visit = await signedIn();
    const copy = site.browser();
    copy.plant(visit.browser);
    await visit.browser.submit(await visit.browser.open('/sign-out'), { logout: 'yes' });
    expect((await copy.open('/account')).text).toContain('type="password"');
  });

  test('without a sign-in the page says at once that the person is signed out', async () => {
    expect((await site.browser().open('/sign-out')).text).toContain('You are signed out');
  });
});

describe('signing out for a client (OpenID Connect RP-Initiated Logout 1.0 section 2)', () => {
  const bye = 'https://app.example/bye';
  const asking = (more: Record<string, string> = {}) =>
    `/session/end?${new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: bye, state: 's', ...more }).toString()}`;

  test('the server asks the person, signs out and redirects to the registered URI', async () => {
    const visit = await signedIn();
    const asked = await visit.browser.open(asking());
    expect(asked.text).toContain('Web &amp; &lt;b&gt;App&lt;/b&gt;');
    expect(asked.headers.get('content-security-policy')).toContain("form-action 'self';");
    const left = await visit.browser.submit(asked, { logout: 'yes' });
    expect(left.headers.get('location')).toBe(`${bye}?state=s`);
    expect(await isOut(visit)).toBe(true);
    expect(await findAccess(site.server, visit.grant)).toBeUndefined();
    expect(await refresh(visit.tokens['refresh_token'])).toBe(400);
  });

  test('the SignIn is gone as well, and a stored cookie does not work', async () => {
    const visit = await signedIn(OFFLINE);
    const copy = site.browser();
    copy.plant(visit.browser);
    const before = await signIns();
    await visit.browser.submit(await visit.browser.open(asking()), { logout: 'yes' });
    expect(await signIns()).toHaveLength(before.length - 1);
    expect((await copy.open('/account')).text).toContain('type="password"');
    expect(await findAccess(site.server, visit.grant)).toBeDefined();
  });

  test('a person who chooses to stay remains signed in', async () => {
    const visit = await signedIn();
    const before = await signIns();
    await visit.browser.submit(await visit.browser.open(asking()));
    expect(await signIns()).toHaveLength(before.length);
    expect(await isOut(visit)).toBe(false);
  });

  test('without a client the sign-out ends on our page', async () => {
    const visit = await signedIn();
    const done = await visit.browser.submit(await visit.browser.open('/session/end'), {
      logout: 'yes',
    });
    expect(done.text).toContain('You are signed out');
    expect(await isOut(visit)).toBe(true);
  });

  test.each([
    ['another host', 'https://evil.example/'],
    ['a longer path', `${bye}/x`],
    ['no URI', 'bye'],
    ['a script', 'javascript:alert(1)'],
    ['nothing', ''],
  ])(
    'section 3: with an unregistered URI (%s) the person is signed out and stays on our page',
    async (_what, uri) => {
      for (const by of ['client_id', 'id_token_hint']) {
        const visit = await signedIn();
        const hint = { client_id: '', id_token_hint: String(visit.tokens['id_token']) };
        const page = asking({ post_logout_redirect_uri: uri, ...(by === 'id_token_hint' && hint) });
        const asked = await visit.browser.open(page.replace('client_id=&', ''));
        expect(asked.text).toContain('Web &amp; &lt;b&gt;App&lt;/b&gt;');
        expect(asked.headers.get('content-security-policy')).toContain("form-action 'self';");
        const done = await visit.browser.submit(asked, { logout: 'yes' });
        expect(done.url).toBe('http://localhost:3000/session/end/success');
        expect(done.text).toContain('You are signed out');
        expect(await isOut(visit)).toBe(true);
      }
    },
  );

  test('section 3: without a sign-in an unregistered URI is not followed either', async () => {
    const page = asking({ post_logout_redirect_uri: 'https://evil.example/' });
    const { url, text } = await site.browser().open(page);
    expect(new URL(url).pathname).toBe('/session/end/success');
    expect(text).toContain('You are signed out');
  });

  test.each([
    ['an unknown client', { client_id: 'nobody' }],
    ['a forged id_token_hint', { id_token_hint: 'a.b.c' }],
    ['an empty id_token_hint', { id_token_hint: 'x' }],
  ])(
    'a request with %s is refused on a page, and the person stays signed in',
    async (_what, params) => {
      const visit = await signedIn();
      const page = await visit.browser.open(asking(params));
      expect(page.status).toBe(400);
      expect(page.headers.get('location')).toBeNull();
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await isOut(visit)).toBe(false);
    },
  );

  test('a URI without its client is not followed', async () => {
    const { browser } = await signedIn();
    const asked = await browser.open(
      `/session/end?${new URLSearchParams({ post_logout_redirect_uri: bye }).toString()}`,
    );
    const done = await browser.submit(asked, { logout: 'yes' });
    expect(done.url).toBe('http://localhost:3000/session/end/success');
  });

  test('a forged confirmation does not sign the person out', async () => {
    const visit = await signedIn();
    await visit.browser.open('/session/end');
    for (const xsrf of ['', 'x', 'a'.repeat(48)]) {
      const form = new URLSearchParams({ xsrf, logout: 'yes' });
      const page = await visit.browser.request('POST', '/session/end/confirm', form);
      expect(page.status).toBe(400);
      expect(page.text).toContain('This page is too old');
    }
    expect(await isOut(visit)).toBe(false);
  });
});

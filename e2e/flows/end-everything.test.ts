import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStore, STORE_KINDS } from './flow.ts';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { answerIn, testSite } from '../../authz-server/integration/site.fixture.ts';
import type { TestSite } from '../../authz-server/integration/site.fixture.ts';
import { ALICE, atConsent } from '../../authz-server/integration/pages/at-consent.fixture.ts';
import type { AtPage } from '../../authz-server/integration/pages/at-consent.fixture.ts';

describe.each(STORE_KINDS)('on %s: everything is revoked while another tab', (kind) => {
  const parts = new AsyncDisposableStack();
  let site: TestSite;
  beforeAll(async () => {
    site = parts.use(await testSite(await startStore(kind, parts)));
  });
  afterAll(() => parts[Symbol.asyncDispose]());

  const cookiesOf = ({ cookies }: TestBrowser) =>
    cookies
      .filter(({ path }) => path === '/')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  /** Prepares the first tab's form with the browser's current cookies. */
  async function formOf(browser: TestBrowser) {
    const page = await browser.open('/account/end');
    const form = new URLSearchParams(
      page.forms.flatMap(({ fields }) => [...fields].map(([...f]) => f)),
    );
    const cookie = cookiesOf(browser);
    return () => browser.request('POST', '/account', form, { cookie });
  }

  /** The second tab submits the consent page, up to the redirect to the client. */
  const goOn = ({ browser, page }: AtPage) => browser.submit(page, { decision: 'allow' });

  async function expectNoToken(page: Page) {
    if (!page.headers.has('location')) return;
    const { access_token: token } = await site.redeem(page);
    if (typeof token !== 'string') return;
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${site.url}/userinfo`, { headers })).status).toBe(401);
  }

  test('has gone on meanwhile: the session id of the form is still recognized for a while', async () => {
    const visit = await atConsent(site);
    const end = await formOf(visit.browser);
    const before = cookiesOf(visit.browser);
    const led = await goOn(visit);
    expect(answerIn(led).get('code')).toBeTruthy();
    expect(cookiesOf(visit.browser)).not.toBe(before);
    const ended = await end();
    expect(ended.text).toContain('Everything has ended');
    await expectNoToken(led);
    expect((await visit.browser.open('/account')).text).not.toContain('/sign-out');
  });

  test('goes on at this moment: all access is revoked in any order', async () => {
    for (let round = 0; round < 8; round++) {
      const visit = await atConsent(site);
      const end = await formOf(visit.browser);
      const [led, ended] = await Promise.all([goOn(visit), end()]);
      expect(ended.text).toContain('Everything has ended');
      await expectNoToken(led);
    }
  });

  test('RFC 6265 section 8.4: the id of an anonymous session is not valid after sign-in', async () => {
    const browser = site.browser();
    await browser.open(site.authorize());
    const planted = cookiesOf(browser);
    await browser.submit(await browser.open(site.authorize()), ALICE);
    const attacker = await site
      .browser()
      .request('GET', '/account', undefined, { cookie: planted });
    expect(attacker.text).not.toContain('/sign-out');
  });

  test('oidc-provider accepts no former session id, and sign-out deletes the former ids, too', async () => {
    const visit = await atConsent(site);
    const former = cookiesOf(visit.browser);
    await goOn(visit);
    const asked = await site
      .browser()
      .request('GET', site.authorize(), undefined, { cookie: former });
    const { location = '' } = Object.fromEntries(asked.headers);
    expect(location).toContain('/interaction/');
    expect(
      await site.server.stores.artefacts.get('Interaction', location.split('/').at(-1) ?? ''),
    ).toMatchObject({ prompt: { name: 'login' } });
    await visit.browser.submit(
      await visit.browser.open('/sign-out'),
      { logout: 'yes' },
      '/sign-out',
    );
    const late = await site.browser().request('GET', '/account', undefined, { cookie: former });
    expect(late.text).not.toContain('/sign-out');
  });
});

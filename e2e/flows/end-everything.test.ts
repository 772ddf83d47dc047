import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStore, STORE_KINDS } from './flow.ts';
import type { Page, TestBrowser } from '../../authz-server/integration/browser.fixture.ts';
import { answerIn, testSite } from '../../authz-server/integration/site.fixture.ts';
import type { TestSite } from '../../authz-server/integration/site.fixture.ts';
import { ALICE, atConsent } from '../../authz-server/integration/pages/at-consent.fixture.ts';
import type { AtPage } from '../../authz-server/integration/pages/at-consent.fixture.ts';

describe.each(STORE_KINDS)('on %s: everything is ended while another tab', (kind) => {
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

  /** As the first tab would send it: with what the browser has now. */
  async function formOf(browser: TestBrowser) {
    const page = await browser.open('/account/end');
    const form = new URLSearchParams(
      page.forms.flatMap(({ fields }) => [...fields].map(([...f]) => f)),
    );
    const cookie = cookiesOf(browser);
    return () => browser.request('POST', '/account', form, { cookie });
  }

  /** The second tab goes on from the consent page, as far as the client. */
  const goOn = ({ browser, page }: AtPage) => browser.submit(page, { decision: 'allow' });

  async function expectNoToken(page: Page) {
    if (!page.headers.has('location')) return;
    const { access_token: token } = await site.redeem(page);
    if (typeof token !== 'string') return;
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${site.url}/userinfo`, { headers })).status).toBe(401);
  }

  test('has gone on meanwhile: the session that the form came with is known a while', async () => {
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

  test('goes on at this moment: it ends, whatever comes first', async () => {
    for (let round = 0; round < 8; round++) {
      const visit = await atConsent(site);
      const end = await formOf(visit.browser);
      const [led, ended] = await Promise.all([goOn(visit), end()]);
      expect(ended.text).toContain('Everything has ended');
      await expectNoToken(led);
    }
  });

  test('RFC 6265 section 8.4: a session that was nobody’s is not known by its former identifier', async () => {
    const browser = site.browser();
    await browser.open(site.authorize());
    const planted = cookiesOf(browser);
    await browser.submit(await browser.open(site.authorize()), ALICE);
    const attacker = await site
      .browser()
      .request('GET', '/account', undefined, { cookie: planted });
    expect(attacker.text).not.toContain('/sign-out');
  });

  test('the engine knows no former identifier, and signing out ends that, too', async () => {
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

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { systemClock } from '#shared/base/clock.ts';
import { unusedCodesFrom } from '../../../authz-server/integration/second-factor.fixture.ts';
import { startAppServer } from './spa/app-server.ts';
import type { AppServer } from './spa/app-server.ts';
import { Visitor } from './spa/visitor.ts';
import { launchBrowser } from '../../parts/browser.ts';
import { virtualAuthenticator } from '../../parts/virtual-authenticator.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';
import { WAYS } from './ways-in.ts';

/** okta-auth-js in Chromium with its default settings, at a server that is not Okta's. */
let parts: AsyncDisposableStack;
let site: OAuthSite;
let app: AppServer;
let browser: Browser;

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  app = parts.use(await startAppServer('okta-auth-js', '127.0.0.1'));
  // Browsers make passkeys for a host name, not for an IP address (WebAuthn section 5.1.3).
  site = parts.use(await startOAuthSite({ issuerHost: 'localhost' }));
  browser = await launchBrowser();
  parts.defer(() => browser.close());
  const options = ['--redirect-uri', app.callback, '--scope', 'openid profile documents:read'];
  const { id } = await site.addClient('--public', ...options);
  const { issuer } = site.pair;
  app.settings = {
    issuer,
    authorizeUrl: `${issuer}/auth`,
    tokenUrl: `${issuer}/token`,
    userinfoUrl: `${issuer}/userinfo`,
    clientId: id,
    redirectUri: app.callback,
    scopes: ['openid', 'profile', 'documents:read'],
  };
});
afterAll(() => parts.disposeAsync());

interface Tokens {
  readonly accessToken: { readonly accessToken: string };
  readonly idToken: { readonly claims: Readonly<Record<string, unknown>> };
}

describe('okta-auth-js', () => {
  test('signs in with PKCE, checks the ID token, reads userinfo, and renews tokens', async () => {
    await using visitor = await Visitor.arrive(site.pair, browser, app);
    await visitor.signIn();
    const { id: sub, name: preferred_username } = visitor.person;
    const { accessToken, idToken } = await visitor.call<Tokens>('tokens');
    expect(idToken.claims).toMatchObject({ iss: site.pair.issuer, sub, preferred_username });
    expect(idToken.claims).toMatchObject({ acr: 'urn:countersign:acr:password', amr: ['pwd'] });
    // The library sends a field of its own, which the preflight must allow (Fetch Standard, CORS protocol).
    expect(await visitor.call('userinfo')).toMatchObject({ sub, preferred_username });
    expect(await site.pair.get(accessToken.accessToken)).toBe(200);
    const renewed = await visitor.call<Tokens>('renew');
    expect(await site.pair.get(renewed.accessToken.accessToken)).toBe(200);
  });

  /** Opens a page of the account, signed in by password, for a set-up; then signs the browser out. */
  async function atHome(visitor: Visitor, path: string, setUp: () => Promise<void>) {
    const { page } = visitor;
    await page.goto(site.pair.issuer + path);
    await visitor.typePassword();
    await setUp();
    await page.context().clearCookies();
  }
  const claims = async (visitor: Visitor) => (await visitor.call<Tokens>('tokens')).idToken.claims;

  test('RFC 8176 section 2: gets acr and amr of a second factor', async () => {
    await using visitor = await Visitor.arrive(site.pair, browser, app);
    const { page } = visitor;
    let code = () => '';
    const type = async (button: string) => {
      await page.getByLabel('Code of six digits').fill(code());
      await page.getByRole('button', { name: button, exact: true }).click();
    };
    await atHome(visitor, '/account/second-factor', async () => {
      await page.getByLabel('Code of six digits').waitFor();
      code = unusedCodesFrom({ text: await page.content() }, { clock: systemClock });
      await type('Set it up');
      await page.getByRole('heading', { name: 'Keep these recovery codes' }).waitFor();
    });
    await visitor.signIn(async () => {
      await visitor.typePassword();
      await type('Continue');
    });
    expect(await claims(visitor)).toMatchObject({
      acr: 'urn:countersign:acr:second-factor',
      amr: WAYS['second-factor']?.amr,
    });
  });

  test('RFC 8176 section 2: gets acr and amr of a passkey', async () => {
    await using visitor = await Visitor.arrive(site.pair, browser, app);
    const { page } = visitor;
    await virtualAuthenticator(page);
    // The test clicks the passkey button, so the browser must not offer passkeys by itself.
    await page.addInitScript(
      'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
    );
    await atHome(visitor, '/account/passkeys', async () => {
      await page.getByLabel('Name of the passkey').fill('Laptop');
      await page.keyboard.press('Enter');
      await page.getByText('The passkey is made.').waitFor();
    });
    await visitor.signIn(() => page.getByRole('button', { name: /^Use a passkey/ }).click());
    expect(await claims(visitor)).toMatchObject({
      acr: 'urn:countersign:acr:passkey',
      amr: WAYS['passkey']?.amr,
    });
  });
});

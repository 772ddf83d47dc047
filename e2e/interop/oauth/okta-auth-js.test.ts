import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startAppServer } from './spa/app-server.ts';
import type { AppServer } from './spa/app-server.ts';
import { Visitor } from './spa/visitor.ts';
import { launchBrowser } from '../../parts/browser.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';

/** okta-auth-js in Chromium, with its defaults, at a server that is not Okta's. */
let parts: AsyncDisposableStack;
let site: OAuthSite;
let app: AppServer;
let browser: Browser;

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  app = parts.use(await startAppServer('okta-auth-js'));
  site = parts.use(await startOAuthSite());
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
  test('signs in with PKCE, checks the ID token, asks userinfo, renews', async () => {
    await using visitor = await Visitor.arrive(site.pair, browser, app);
    await visitor.signIn();
    const { id: sub, name: preferred_username } = visitor.person;
    const { accessToken, idToken } = await visitor.call<Tokens>('tokens');
    expect(idToken.claims).toMatchObject({ iss: site.pair.issuer, sub, preferred_username });
    expect(idToken.claims).toMatchObject({ acr: 'urn:countersign:acr:password', amr: ['pwd'] });
    // With a field of its own, which the preflight has to allow (Fetch Standard, CORS protocol).
    expect(await visitor.call('userinfo')).toMatchObject({ sub, preferred_username });
    expect(await site.pair.get(accessToken.accessToken)).toBe(200);
    const renewed = await visitor.call<Tokens>('renew');
    expect(await site.pair.get(renewed.accessToken.accessToken)).toBe(200);
  });
});

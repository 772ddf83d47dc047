import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../parts/browser.ts';
import { CALLBACK } from '../../pair/people-client.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';
import { startAppServer } from './spa/app-server.ts';
import type { AppServer } from './spa/app-server.ts';
import { Visitor } from './spa/visitor.ts';

/**
 * keycloak-js in Chromium, set up as docs/how-to/coming-from-keycloak.md says. It sends `credentials:
 * 'include'` to /token.
 */
let parts: AsyncDisposableStack;
let site: OAuthSite;
let app: AppServer;
/** An application whose origin is not registered. */
let foreign: AppServer;
let browser: Browser;

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  app = parts.use(await startAppServer('keycloak-js'));
  foreign = parts.use(await startAppServer('keycloak-js'));
  site = parts.use(await startOAuthSite());
  browser = await launchBrowser();
  parts.defer(() => browser.close());
  const { issuer } = site.pair;
  const where = ['--redirect-uri', app.callback, '--redirect-uri', CALLBACK];
  const options = ['--public', '--grant', 'authorization_code', ...where];
  const scope = 'openid profile documents:read';
  const added = await site.pair.cli(
    'client',
    'add',
    '--name',
    'Shop',
    ...options,
    '--scope',
    scope,
  );
  const config = { clientId: String(added['client_id']), oidcProvider: issuer };
  const init = { checkLoginIframe: false, scope, redirectUri: app.callback };
  app.settings = { config, init };
  foreign.settings = { config, init: { ...init, redirectUri: foreign.callback } };
});
afterAll(() => parts.disposeAsync());

test('keycloak-js signs in with PKCE, checks the nonce, and reads userinfo and documents', async () => {
  await using visitor = await Visitor.arrive(site.pair, browser, app);
  const { page, person } = visitor;
  await page.goto(app.origin);
  await page.waitForFunction('globalThis.app?.signedIn === false');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visitor.typePassword();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.waitForFunction('globalThis.app?.signedIn === true');
  expect(await visitor.call('claims')).toMatchObject({
    iss: site.pair.issuer,
    sub: person.id,
    preferred_username: person.name,
  });
  expect(await visitor.call('userinfo')).toMatchObject({ sub: person.id });
  expect(await site.pair.get(await visitor.call<string>('token'))).toBe(200);
});

test('Fetch Standard: a page of an unregistered origin cannot read the answer of /token, even with credentials', async () => {
  await using visitor = await Visitor.arrive(site.pair, browser, foreign);
  await visitor.page.goto(foreign.origin);
  const { clientId } = (app.settings as { config: { clientId: string } }).config;
  const asked = visitor.page.evaluate(`fetch('${site.pair.issuer}/token', {
    method: 'POST',
    credentials: 'include',
    body: new URLSearchParams({ grant_type: 'authorization_code', client_id: '${clientId}', code: 'x' }),
  })`);
  await expect(asked).rejects.toThrow('Failed to fetch');
});

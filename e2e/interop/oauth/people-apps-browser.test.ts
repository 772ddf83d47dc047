import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, newPerson } from '../../parts/browser.ts';
import { freePort } from '../../parts/free-port.ts';
import type { Person } from '../../pair/pair.ts';
import { startApache } from './apache.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';
import { CALLBACK_PATH, listening, type MakeApp, SCOPE } from './people-apps/app.ts';
import { expressOpenidConnectApp } from './people-apps/express-openid-connect.ts';
import { openidClientApp } from './people-apps/openid-client.ts';
import { passportApp } from './people-apps/passport-openidconnect.ts';

/** Ordinary applications that need a name, an e-mail address and groups, each used in Chromium. */
const APPS: Readonly<Record<string, { make: MakeApp; options: readonly string[] }>> = {
  'openid-client': { make: openidClientApp, options: [] },
  'express-openid-connect': { make: expressOpenidConnectApp, options: [] },
  'passport-openidconnect': {
    make: passportApp,
    options: ['--pkce', 'nonce', '--auth', 'client_secret_post'],
  },
};

let parts: AsyncDisposableStack;
let site: OAuthSite;
let browser: Browser;
const origins = new Map<string, string>();
let apache: string;

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  site = parts.use(await startOAuthSite());
  browser = await launchBrowser();
  parts.defer(() => browser.close());
  for (const [name, { make, options }] of Object.entries(APPS)) {
    const origin = `http://localhost:${await freePort()}`;
    const uri = origin + CALLBACK_PATH;
    const client = await site.addClient('--scope', SCOPE, '--redirect-uri', uri, ...options);
    const app = await make({ issuer: site.pair.issuer, ...client, origin });
    parts.use(await listening(app, origin));
    origins.set(name, origin);
  }
  apache = await startRelyingApache();
});
afterAll(() => parts?.disposeAsync());

/** Debian's Apache: `/app/` admits group Staff only, and `/api/` one e-mail address only. */
async function startRelyingApache(): Promise<string> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const uri = `${origin}/app/redirect`;
  const client = await site.addClient('--scope', SCOPE, '--redirect-uri', uri);
  parts.use(
    await startApache({
      [port]: `OIDCProviderMetadataURL ${site.pair.issuer}/.well-known/openid-configuration
OIDCClientID ${client.id}
OIDCClientSecret ${client.secret}
OIDCRedirectURI ${uri}
OIDCCryptoPassphrase a-passphrase-of-this-server
OIDCScope "${SCOPE}"
OIDCRemoteUserClaim preferred_username
OIDCPKCEMethod S256
<Location /app>
AuthType openid-connect
AuthzSendForbiddenOnFailure On
Require claim groups:Staff
Header set X-Person "expr=%{REMOTE_USER}"
Header set X-Email "expr=%{env:OIDC_CLAIM_email}"
Header set X-Groups "expr=%{env:OIDC_CLAIM_groups}"
Header set X-Acr "expr=%{env:OIDC_CLAIM_acr}"
Header set X-Amr "expr=%{env:OIDC_CLAIM_amr}"
</Location>
<Location /api>
AuthType openid-connect
AuthzSendForbiddenOnFailure On
Require claim email:nobody@example.com
</Location>`,
    }),
  );
  return origin;
}

/** A new person with e-mail address and groups. */
async function newVisitor() {
  const person = await site.pair.addPerson(`person-${randomUUID()}`);
  const email = `${person.name}@example.com`;
  const options = ['--display-name', 'Jäsøn Liddell', '--email', `${email},verified`];
  const groups = ['Staff', 'Chess club'];
  const named = groups.flatMap((group) => ['--group', group]);
  await site.pair.cli('user', 'set', person.name, ...options, ...named, '--locale', 'en-GB');
  const page = await (await newPerson(browser)).newPage();
  return { person, email, groups, page };
}

/** Signs in from the application's page, unticks boxes, and allows; resolves to the resulting page. */
async function signIn(page: Page, url: string, { name, password }: Person, untick?: RegExp) {
  await page.goto(url);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  const told = await page.locator('fieldset').innerText();
  if (untick) await page.getByLabel(untick).uncheck();
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url() === url),
    page.waitForURL(url),
    page.getByRole('button', { name: 'Allow' }).click(),
  ]);
  return { told, answer };
}

describe.each(Object.keys(APPS))('%s', (name) => {
  const url = () => `${origins.get(name)}/`;

  test('the application gets the claims that the consent page shows', async () => {
    const { person, email, groups, page } = await newVisitor();
    const { told, answer } = await signIn(page, url(), person);
    for (const value of ['Jäsøn Liddell', email, ...groups]) expect(told).toContain(value);
    expect(await answer.json()).toEqual({
      sub: person.id,
      name: 'Jäsøn Liddell',
      preferred_username: person.name,
      email,
      email_verified: true,
      groups,
      locale: 'en-GB',
      acr: 'urn:countersign:acr:password',
      amr: ['pwd'],
    });
  });

  test('the application gets no address if the person unticks it', async () => {
    const { person, groups, page } = await newVisitor();
    const { answer } = await signIn(page, url(), person, /e-mail/);
    const learned = (await answer.json()) as object;
    expect(learned).toMatchObject({ sub: person.id, groups });
    expect(learned).not.toHaveProperty('email');
    expect(learned).not.toHaveProperty('email_verified');
  });
});

describe("mod_auth_openidc in Debian's Apache", () => {
  test('`Require claim groups:Staff` admits Staff, and a person cannot forge the claim', async () => {
    const { person, email, page } = await newVisitor();
    const { answer } = await signIn(page, `${apache}/app/index.html`, person);
    expect(answer.status()).toBe(200);
    expect(answer.headers()).toMatchObject({
      'x-person': person.name,
      'x-email': email,
      'x-groups': 'Staff,Chess club',
      'x-acr': 'urn:countersign:acr:password',
      'x-amr': 'pwd',
    });
    expect((await page.goto(`${apache}/api/index.html`))?.status()).toBe(403);
  });

  test('a person in no group, or without the groups claim, is refused', async () => {
    const [unsaid, outside] = [await newVisitor(), await newVisitor()];
    const url = `${apache}/app/index.html`;
    expect((await signIn(unsaid.page, url, unsaid.person, /groups/)).answer.status()).toBe(403);
    const { name } = outside.person;
    await site.pair.cli('user', 'set', name, '--without', 'group');
    expect((await signIn(outside.page, url, outside.person)).answer.status()).toBe(403);
  });
});

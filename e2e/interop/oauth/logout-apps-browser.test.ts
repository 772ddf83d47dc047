/**
 * @needs countersign
 * @slow
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Person } from '../../pair/pair.ts';
import { launchBrowser, newPerson } from '../../parts/browser.ts';
import { freePort } from '../../parts/free-port.ts';
import { until } from '../../parts/process.ts';
import { startApache } from './apache.ts';
import { startOAuthSite } from './oauth-site.ts';
import type { OAuthSite } from './oauth-site.ts';
import { CALLBACK_PATH, listening, SCOPE } from './people-apps/app.ts';
import { expressOpenidConnectApp } from './people-apps/express-openid-connect.ts';
import { LOGOUT_PATH, startLogoutApp } from './people-apps/logout-app.ts';

/** An application that keeps sessions in cookies of its own. */
interface App {
  readonly client: string;
  /** A page for people who have signed in. */
  readonly url: string;
}

const NEW = 'a password that is new';

let parts: AsyncDisposableStack;
let site: OAuthSite;
let browser: Browser;
const apps = new Map<string, App>();

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  site = parts.use(await startOAuthSite());
  browser = await launchBrowser();
  parts.defer(() => browser.close());
  apps.set('express-openid-connect', await startExpressApp());
  apps.set("mod_auth_openidc in Debian's Apache", await startApacheApp());
  apps.set('openid-client with the handler of docs/how-to/applications.md', await startOwnApp());
});
afterAll(() => parts?.disposeAsync());

const register = (redirect: string, logout: string) =>
  site.addClient('--scope', SCOPE, '--redirect-uri', redirect, '--logout-url', logout);

async function startExpressApp(): Promise<App> {
  const origin = `http://localhost:${await freePort()}`;
  const client = await register(origin + CALLBACK_PATH, `${origin}/backchannel-logout`);
  const app = await expressOpenidConnectApp({ issuer: site.pair.issuer, ...client, origin });
  parts.use(await listening(app, origin));
  return { client: client.id, url: `${origin}/` };
}

async function startApacheApp(): Promise<App> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const uri = `${origin}/app/redirect`;
  const client = await register(uri, `${uri}?logout=backchannel`);
  parts.use(
    await startApache({
      [port]: `OIDCProviderMetadataURL ${site.pair.issuer}/.well-known/openid-configuration
OIDCClientID ${client.id}
OIDCClientSecret ${client.secret}
OIDCRedirectURI ${uri}
OIDCCryptoPassphrase a-passphrase-of-this-server
OIDCScope "${SCOPE}"
OIDCPKCEMethod S256
<Location /app>
AuthType openid-connect
Require valid-user
</Location>`,
    }),
  );
  return { client: client.id, url: `${origin}/app/index.html` };
}

async function startOwnApp(): Promise<App> {
  const origin = `http://localhost:${await freePort()}`;
  const client = await register(origin + CALLBACK_PATH, origin + LOGOUT_PATH);
  parts.use(await startLogoutApp(site.pair, { ...client, origin }));
  return { client: client.id, url: `${origin}/` };
}

/** Opens the application, and answers the pages of the authorization server. */
async function signIn(page: Page, { url }: App, { name, password }: Person): Promise<void> {
  await page.goto(url);
  const field = page.getByLabel('Password');
  const allow = page.getByRole('button', { name: 'Allow' });
  await field.or(allow).first().waitFor();
  if (await field.isVisible()) {
    await page.getByLabel('Name').fill(name);
    await field.fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  await Promise.all([page.waitForURL(url), allow.click()]);
}

/** Whether the application still lets the browser in. A browser that is out is sent to the authorization server. */
async function isIn(context: BrowserContext, { url }: App): Promise<boolean> {
  const headers = { accept: 'text/html' };
  const answer = await context.request.get(url, { maxRedirects: 0, headers });
  if (answer.status() === 200) return true;
  expect(answer.headers()['location']).toContain(site.pair.issuer);
  return false;
}

interface Visit {
  readonly person: Person;
  readonly context: BrowserContext;
  readonly page: Page;
}

/** Signs a person in at the applications. */
async function visit(given?: Person, at = [...apps.values()]): Promise<Visit> {
  const person = given ?? (await site.pair.addPerson(`person-${randomUUID()}`));
  const context = await newPerson(browser);
  const page = await context.newPage();
  for (const app of at) {
    await signIn(page, app, person);
    expect(await isIn(context, app)).toBe(true);
  }
  return { person, context, page };
}

const atIssuer = ({ page }: Visit, path: string) => page.goto(site.pair.issuer + path);

const ENDS: Readonly<Record<string, (there: Visit) => Promise<unknown>>> = {
  async 'the person signs out on the page of the authorization server'(there) {
    await atIssuer(there, '/sign-out');
    await there.page.getByRole('button', { name: 'Sign out' }).click();
    await there.page.getByText('You are signed out').waitFor();
  },
  async 'the person ends everything'(there) {
    await atIssuer(there, '/account/end');
    await there.page.getByRole('button', { name: 'End everything' }).click();
    await there.page.getByText('Everything has ended').waitFor();
  },
  'user end': ({ person }) => site.pair.cli('user', 'end', person.name),
  'user disable': ({ person }) => site.pair.cli('user', 'disable', person.name),
  'user passwd': ({ person }) => site.pair.setPassword(person.name, NEW),
  'user remove': ({ person }) => site.pair.cli('user', 'remove', person.name),
};

describe('an application ends its session', () => {
  test.each(Object.entries(ENDS))('every application ends its session: %s', async (_, end) => {
    const there = await visit();
    await end(there);
    for (const app of apps.values()) await until(async () => !(await isIn(there.context, app)));
  });

  test.each([0, 1, 2])('client end, application %d', async (index) => {
    const there = await visit();
    const [...all] = apps.values();
    const [ended] = all.splice(index, 1);
    await site.pair.cli('client', 'end', String(ended?.client));
    await until(async () => !(await isIn(there.context, ended as App)));
    for (const app of all) expect(await isIn(there.context, app)).toBe(true);
  });

  test('a sign-out ends one browser, where the application knows `sid`', async () => {
    const [, ...others] = apps.values();
    const here = await visit(undefined, others);
    const there = await visit(here.person, others);
    await ENDS['the person signs out on the page of the authorization server']?.(here);
    for (const app of others) {
      await until(async () => !(await isIn(here.context, app)));
      expect(await isIn(there.context, app)).toBe(true);
    }
  });
});

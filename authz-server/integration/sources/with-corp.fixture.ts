import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, type Clock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { testSite, type TestSite, WEB } from '../site.fixture.ts';
import { CLIENT_ID, CLIENT_SECRET, otherProvider, type OtherProvider } from './provider.fixture.ts';

export const ISSUER = 'http://localhost:3000';

/** The claims of the provider about Carol. */
export const CAROL = {
  name: 'Carol Example',
  preferred_username: 'carol',
  email: 'carol@corp.example',
  email_verified: true,
  groups: ['eng', 'all'],
} as const;

export interface WithCorp extends AsyncDisposable {
  readonly corp: OtherProvider;
  readonly site: TestSite;
  /** Follows the link of a sign-in page to the provider. Returns the URL of the callback. */
  visit(browser: TestBrowser, page: Page, subject: string): Promise<string>;
  /** Signs in at the account page by the provider. Returns the page that follows. */
  signIn(browser: TestBrowser, subject: string): Promise<Page>;
}

/** Returns the source `corp`, which the provider answers. */
export async function corpSource(corp: OtherProvider, more: object = {}) {
  const secret = join(await storeFolder(), 'secret');
  await writeFile(secret, `${CLIENT_SECRET}\n`);
  return {
    name: 'corp',
    title: 'Example Corp',
    newcomers: 'created',
    emails: { verifiedFor: ['corp.example'] },
    groups: { map: { eng: 'staff' } },
    provider: { issuer: corp.issuer, clientId: CLIENT_ID, clientSecretFile: secret },
    ...more,
  };
}

/** Starts the authorization server with one source, and its provider. */
export async function withCorp(
  {
    source = {},
    more = [],
    ...settings
  }: Readonly<Record<string, unknown>> & {
    readonly source?: object;
    /** Further sources. */
    readonly more?: readonly object[];
  } = {},
  clock: Clock = systemClock,
): Promise<WithCorp> {
  const corp = await otherProvider(`${ISSUER}/sign-in/with/corp/callback`);
  corp.people.set('subject-1', CAROL);
  const site = await testSite(
    { sources: [await corpSource(corp, source), ...more], ...settings },
    clock,
  );

  const visit: WithCorp['visit'] = async (browser, page, subject) => {
    const away = await browser.open(linkOf(page));
    return corp.visit(away.headers.get('location') ?? '', subject);
  };
  return {
    corp,
    site,
    visit,
    async signIn(browser, subject) {
      return browser.open(await visit(browser, await browser.open('/account'), subject));
    },
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await corp[Symbol.asyncDispose]();
    },
  };
}

/**
 * Opens the application `web`, which has a logout URL from now on, by a sign-in at the provider. Returns the ids of the
 * applications that wait to be told about the person.
 */
export async function openApplication(
  { site, visit }: WithCorp,
  browser: TestBrowser,
): Promise<(name: string) => Promise<readonly string[]>> {
  const { clients, logouts, people } = site.server.stores;
  await clients.replace({ ...WEB, backchannel_logout_uri: 'http://localhost:1/logout' });
  const page = await browser.open(site.authorize());
  const consent = await browser.open(await visit(browser, page, 'subject-1'));
  await site.redeem(await browser.submit(consent, { decision: 'allow' }));
  return async (name) => {
    const person = await people.getByName(name);
    return logouts.waiting(person?.id ?? '');
  };
}

/** Returns the link of a page to a source. */
export const linkOf = ({ text }: Page, source = 'corp'): string =>
  (new RegExp(`href="(/sign-in/with/${source}[^"]*)"`).exec(text)?.[1] ?? '').replaceAll(
    '&amp;',
    '&',
  );

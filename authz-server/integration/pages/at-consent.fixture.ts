import { removeConsents } from '#shared/people/access/consents.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { claimsOf, PASSWORD } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';

export const ALICE = { name: 'alice', password: PASSWORD };
export const BOB = { name: 'bob', password: PASSWORD };

type Params = Readonly<Record<string, string>>;

export interface AtPage {
  readonly browser: TestBrowser;
  readonly page: Page;
}

/**
 * Returns a new browser in which a person has signed in and is asked about the client, whatever the person allowed
 * before.
 */
export async function atConsent(site: TestSite, params: Params = {}, who = ALICE): Promise<AtPage> {
  await removeConsents(site.server, await idOf(site, who.name), () => true);
  const browser = site.browser();
  return { browser, page: await browser.submit(await browser.open(site.authorize(params)), who) };
}

/** As `atConsent`, after the person allowed everything; the page leads back to the client. */
export async function allowed(site: TestSite, params: Params = {}, who = ALICE): Promise<AtPage> {
  const { browser, page } = await atConsent(site, params, who);
  return { browser, page: await browser.submit(page, { decision: 'allow' }) };
}

/** Returns the grant of the tokens that the client gets from this page. */
export async function grantOf(site: TestSite, page: Page): Promise<string> {
  return String(claimsOf((await site.redeem(page))['access_token'])['grant_id']);
}

export async function idOf(site: TestSite, name: string): Promise<string> {
  return (await site.server.stores.people.getByName(name))?.id ?? '';
}

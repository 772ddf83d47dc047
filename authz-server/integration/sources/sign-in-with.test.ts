import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { answerIn, claimsOf, testSite, type TestSite } from '../site.fixture.ts';
import { CLIENT_ID, CLIENT_SECRET, otherProvider, type OtherProvider } from './provider.fixture.ts';

const ISSUER = 'http://localhost:3000';
let corp: OtherProvider;
let site: TestSite;

beforeAll(async () => {
  corp = await otherProvider(`${ISSUER}/sign-in/with/corp/callback`);
  const secret = join(await storeFolder(), 'secret');
  await writeFile(secret, `${CLIENT_SECRET}\n`);
  site = await testSite({
    sources: [
      {
        name: 'corp',
        title: 'Example Corp',
        newcomers: 'created',
        emails: { verifiedFor: ['corp.example'] },
        groups: { map: { eng: 'staff' } },
        provider: { issuer: corp.issuer, clientId: CLIENT_ID, clientSecretFile: secret },
      },
    ],
  });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await corp[Symbol.asyncDispose]();
});

beforeEach(() => {
  corp.people.set('subject-1', {
    name: 'Carol Example',
    preferred_username: 'carol',
    email: 'carol@corp.example',
    email_verified: true,
    groups: ['eng', 'all'],
  });
});

const hrefOf = ({ text }: Page) =>
  (/href="(\/sign-in\/with\/corp[^"]*)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

/** Follows the link of a sign-in page to the provider and back. */
async function signInWith(browser: TestBrowser, page: Page, subject: string): Promise<Page> {
  const away = await browser.open(hrefOf(page));
  return browser.open(await corp.visit(away.headers.get('location') ?? '', subject));
}

describe('sign-in by another OpenID Provider', () => {
  test('a newcomer gets an account, with what the provider says', async () => {
    const browser = site.browser();
    const page = await signInWith(browser, await browser.open('/account'), 'subject-1');
    expect(page.url).toBe(`${ISSUER}/account`);
    expect(page.text).toContain('carol');
    const person = await site.server.stores.people.getByName('carol');
    expect(person).toMatchObject({
      profile: {
        display_name: 'Carol Example',
        emails: [{ address: 'carol@corp.example', verified: true }],
        groups: ['staff'],
      },
      origin: { source: 'corp', subject: 'subject-1' },
    });
    expect(person?.password_hash).toBeUndefined();
  });

  test('a person on the way to a client comes back to it', async () => {
    const browser = site.browser();
    const page = await browser.open(site.authorize());
    const consent = await signInWith(browser, page, 'subject-1');
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(answerIn(answer).get('code')).not.toBeNull();
    const claims = claimsOf((await site.redeem(answer))['access_token']);
    expect(claims['acr']).toBe('urn:countersign:acr:provider');
  });
});

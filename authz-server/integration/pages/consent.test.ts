import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { endGrant, findAccess, listAccess } from '#shared/people/access/grants.ts';
import { answerIn, claimsOf, DOCUMENTS, testSite } from '../site.fixture.ts';
import type { TestSite } from '../site.fixture.ts';
import { allowed, atConsent, grantOf, idOf } from './at-consent.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

let site: TestSite;
beforeAll(async () => {
  site = await testSite();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

const READ = `${DOCUMENTS} documents:read`;

describe('consent', () => {
  test('in part: a refused scope is not granted, and the page does not ask for it again', async () => {
    const { browser, page } = await atConsent(site);
    const answer = await browser.submit(page, { decision: 'allow', item: READ });
    const { access_token } = await site.redeem(answer);
    expect(claimsOf(access_token)['scope']).toBe('documents:read');
    expect(answerIn(await browser.open(site.authorize())).get('code')).not.toBeNull();
  });

  test('a refused scope can be allowed when the client asks again, and the other way round', async () => {
    const { browser, page } = await atConsent(site);
    await browser.submit(page, { decision: 'allow', item: READ });
    const again = await browser.open(site.authorize({ prompt: 'consent' }));
    const write = await browser.submit(again, {
      decision: 'allow',
      item: `${DOCUMENTS} documents:write`,
    });
    expect(claimsOf((await site.redeem(write))['access_token'])['scope']).toBe('documents:write');
  });

  test('denied: access_denied to the client, nothing granted', async () => {
    const before = await listAccess(site.server, await idOf(site, 'alice'));
    const { browser, page } = await atConsent(site);
    const answer = answerIn(await browser.submit(page, { decision: 'deny' }));
    expect(answer.get('error')).toBe('access_denied');
    expect(answer.get('iss')).toBe('http://localhost:3000');
    expect(await listAccess(site.server, await idOf(site, 'alice'))).toHaveLength(before.length);
  });

  test('nothing allowed is denied', async () => {
    const { browser, page } = await atConsent(site, { scope: 'documents:read' });
    const answer = answerIn(await browser.submit(page, { decision: 'allow', item: undefined }));
    expect(answer.get('error')).toBe('access_denied');
  });

  test('openid cannot be refused by itself', async () => {
    const { browser, page } = await atConsent(site, { scope: 'openid documents:read' });
    const answer = await browser.submit(page, { decision: 'allow', item: READ });
    expect(await site.redeem(answer)).toHaveProperty('id_token');
  });

  test.each([
    ['another scope of the resource', `${DOCUMENTS} documents:write`],
    ['a scope of nobody', `${DOCUMENTS} root`],
    ['another resource', 'https://other.example/ documents:read'],
    ['a personal scope', 'profile'],
    ['offline_access', 'offline_access'],
    ['__proto__', '__proto__'],
  ])('an item that was not asked for is not granted: %s', async (_what, item) => {
    const { browser, page } = await atConsent(site, { scope: 'openid documents:read' });
    const answer = await browser.submit(page, { decision: 'allow', item: [item, READ, READ] });
    const grant = await site.server.stores.artefacts.get('Grant', await grantOf(site, answer));
    expect(grant).toMatchObject({
      openid: { scope: 'openid' },
      resources: { [DOCUMENTS]: 'documents:read' },
    });
  });

  test.each([undefined, '', 'yes', 'Allow'])('decision %j is 400', async (decision) => {
    const { browser, page } = await atConsent(site);
    expect((await browser.submit(page, { decision })).status).toBe(400);
  });

  test('access ends with the browser unless offline_access was allowed (section 11)', async () => {
    const params = { scope: 'openid offline_access documents:read', prompt: 'consent' };
    const { page: answer } = await allowed(site, params);
    const offline = await findAccess(site.server, await grantOf(site, answer));
    expect(offline).not.toHaveProperty('signIn');

    const { browser, page } = await atConsent(site, params);
    const online = await browser.submit(page, { decision: 'allow', item: READ });
    const access = await findAccess(site.server, await grantOf(site, online));
    expect(access).toMatchObject({
      accountId: await idOf(site, 'alice'),
      signIn: expect.any(String),
    });
  });

  test('asked for more, the grant grows and keeps since when it is', async () => {
    const { browser, page: answer } = await allowed(site, { scope: 'documents:read' });
    const grant = await grantOf(site, answer);
    const first = await findAccess(site.server, grant);
    const more = await browser.open(site.authorize({ scope: 'documents:read documents:write' }));
    const grown = await browser.submit(more, { decision: 'allow' });
    expect(await grantOf(site, grown)).toBe(grant);
    expect((await findAccess(site.server, grant))?.since).toBe(first?.since);
  });

  test('a grant that was ended while more is asked for does not come back', async () => {
    const { browser, page: answer } = await allowed(site, { scope: 'documents:read' });
    const grant = await grantOf(site, answer);
    const more = await browser.open(site.authorize({ scope: 'documents:read documents:write' }));
    await site.server.stores.artefacts.remove('Access', grant);
    const fresh = await grantOf(site, await browser.submit(more, { decision: 'allow' }));
    expect(fresh).not.toBe(grant);
  });

  test('a form that is sent again after its grant was ended gives a new one, whose tokens work', async () => {
    const { browser, page } = await atConsent(site);
    await browser.send(page, { decision: 'allow' });
    const [access] = await listAccess(site.server, await idOf(site, 'alice'));
    await endGrant(site.server, access?.grantId ?? '');
    const again = await browser.submit(page, { decision: 'allow' });
    const { access_token } = await site.redeem(again);
    expect(claimsOf(access_token)['grant_id']).not.toBe(access?.grantId);
    const headers = { authorization: `Bearer ${String(access_token)}` };
    expect((await fetched(`${site.url}/userinfo`, { headers })).status).toBe(200);
  });

  test('a form sent ten times at once gives one grant', async () => {
    const who = await idOf(site, 'alice');
    const before = await listAccess(site.server, who);
    const { browser, page } = await atConsent(site);
    const pages = await Promise.all(
      Array.from({ length: 10 }, () => browser.send(page, { decision: 'allow' })),
    );
    expect(pages.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(await listAccess(site.server, who)).toHaveLength(before.length + 1);
    expect(answerIn(await browser.follow(pages[0] ?? page)).get('code')).not.toBeNull();
  });
});

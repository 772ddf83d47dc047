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

describe('the consent page', () => {
  test('a person can refuse a scope, which is not granted, and the page does not ask for it again', async () => {
    const { browser, page } = await atConsent(site);
    const answer = await browser.submit(page, { decision: 'allow', item: READ });
    const { access_token } = await site.redeem(answer);
    expect(claimsOf(access_token)['scope']).toBe('documents:read');
    expect(answerIn(await browser.open(site.authorize())).get('code')).not.toBeNull();
  });

  test('a refused scope can be allowed when the client asks again, and an allowed scope can be refused', async () => {
    const { browser, page } = await atConsent(site);
    await browser.submit(page, { decision: 'allow', item: READ });
    const again = await browser.open(site.authorize({ prompt: 'consent' }));
    const write = await browser.submit(again, {
      decision: 'allow',
      item: `${DOCUMENTS} documents:write`,
    });
    expect(claimsOf((await site.redeem(write))['access_token'])['scope']).toBe('documents:write');
  });

  test('after a denial the client gets access_denied, and no access is granted', async () => {
    const before = await listAccess(site.server, await idOf(site, 'alice'));
    const { browser, page } = await atConsent(site);
    const answer = answerIn(await browser.submit(page, { decision: 'deny' }));
    expect(answer.get('error')).toBe('access_denied');
    expect(answer.get('iss')).toBe('http://localhost:3000');
    expect(await listAccess(site.server, await idOf(site, 'alice'))).toHaveLength(before.length);
  });

  test('a form that allows no item is a denial', async () => {
    const { browser, page } = await atConsent(site, { scope: 'documents:read' });
    const answer = answerIn(await browser.submit(page, { decision: 'allow', item: undefined }));
    expect(answer.get('error')).toBe('access_denied');
  });

  test('openid cannot be refused alone', async () => {
    const { browser, page } = await atConsent(site, { scope: 'openid documents:read' });
    const answer = await browser.submit(page, { decision: 'allow', item: READ });
    expect(await site.redeem(answer)).toHaveProperty('id_token');
  });

  test.each([
    ['another scope of the resource', `${DOCUMENTS} documents:write`],
    ['an unknown scope', `${DOCUMENTS} root`],
    ['another resource', 'https://other.example/ documents:read'],
    ['a personal scope', 'profile'],
    ['offline_access', 'offline_access'],
    ['__proto__', '__proto__'],
  ])('an item that was not requested is not granted: %s', async (_what, item) => {
    const { browser, page } = await atConsent(site, { scope: 'openid documents:read' });
    const answer = await browser.submit(page, { decision: 'allow', item: [item, READ, READ] });
    const grant = await site.server.stores.artefacts.get('Grant', await grantOf(site, answer));
    expect(grant).toMatchObject({
      openid: { scope: 'openid' },
      resources: { [DOCUMENTS]: 'documents:read' },
    });
  });

  test.each([undefined, '', 'yes', 'Allow'])('the decision %j gets 400', async (decision) => {
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

  test('after a request for more access the grant grows and keeps its time', async () => {
    const { browser, page: answer } = await allowed(site, { scope: 'documents:read' });
    const grant = await grantOf(site, answer);
    const first = await findAccess(site.server, grant);
    const more = await browser.open(site.authorize({ scope: 'documents:read documents:write' }));
    const grown = await browser.submit(more, { decision: 'allow' });
    expect(await grantOf(site, grown)).toBe(grant);
    expect((await findAccess(site.server, grant))?.since).toBe(first?.since);
  });

  test('a grant that ends while the person is asked for more access stays ended', async () => {
    const { browser, page: answer } = await allowed(site, { scope: 'documents:read' });
    const grant = await grantOf(site, answer);
    const more = await browser.open(site.authorize({ scope: 'documents:read documents:write' }));
    await site.server.stores.artefacts.remove('Access', grant);
    const fresh = await grantOf(site, await browser.submit(more, { decision: 'allow' }));
    expect(fresh).not.toBe(grant);
  });

  test('a form that is sent again after the end of its grant gives a new grant, whose tokens work', async () => {
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

  test('a form that is sent ten times at the same time gives one grant', async () => {
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

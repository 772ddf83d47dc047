import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, decodeJwt, jwtVerify, importJWK } from 'jose';
import { endAccessOfClient } from '#shared/operations/clients/client-end.ts';
import { removeClient } from '#shared/operations/clients/client-remove.ts';
import { disableUser } from '#shared/operations/people/user-disable.ts';
import { listAccess, recordAccess } from '#shared/people/access/grants.ts';
import { addPerson } from '#shared/people/people.ts';
import { fresh } from '#shared/stores/contract/samples.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { PASSWORD, type TestSite } from '../site.fixture.ts';
import {
  BROWSER,
  type LogoutSite,
  openLogoutSite,
  PERSON,
  refresh,
  type Visit,
} from './logout-ends.fixture.ts';
import { sendAll, sendDuring, toldBy } from './logouts.fixture.ts';

const STORES: Readonly<Record<string, (parts: AsyncDisposableStack) => Promise<object>>> = {
  SQLite: () => Promise.resolve({}),
  'PostgreSQL with Redis': async (parts) => {
    const { store } = parts.use(await startSharedStore());
    return { store };
  },
};

describe.each(Object.entries(STORES))('on %s', (_kind, settingsOf) => {
  const parts = new AsyncDisposableStack();
  let at: LogoutSite;
  let site: TestSite;
  let application: LogoutSite['application'];
  beforeAll(async () => {
    at = parts.use(await openLogoutSite(await settingsOf(parts)));
    ({ site, application } = at);
  });
  afterAll(async () => parts[Symbol.asyncDispose]());

  describe('an application with a logout URL gets a logout token', () => {
    test.each(Object.entries(BROWSER))('for one browser: %s', async (_, end) => {
      const there = await at.visit();
      expect(there.sid).toMatch(/^[\w-]{22}$/);
      application.tokens.length = 0;
      await sendDuring(site, () => end(there, at));
      expect(toldBy(application.tokens)).toEqual([{ sub: there.accountId, sid: there.sid }]);
    });

    test.each(Object.entries(PERSON))('for all sessions of the person: %s', async (_, end) => {
      const there = await at.visit();
      const elsewhere = await at.visitOf(there.name, 'openid');
      application.tokens.length = 0;
      await sendDuring(site, () => end(there, at));
      const told = toldBy(application.tokens);
      const sub = there.accountId;
      expect(told).toHaveLength(3);
      expect(told).toEqual(
        expect.arrayContaining([{ sub }, { sub, sid: there.sid }, { sub, sid: elsewhere.sid }]),
      );
    });

    test('not if the person allows a request twice', async () => {
      const name = fresh().toLowerCase();
      await addPerson(site.server, { name, password: PASSWORD });
      const browser = site.browser();
      const asked = await browser.open(site.authorize({ prompt: 'consent' }));
      const consent = await browser.submit(asked, { name, password: PASSWORD });
      application.tokens.length = 0;
      const pressed = await Promise.all(
        [1, 2].map(() => browser.send(consent, { decision: 'allow' })),
      );
      expect(pressed.map(({ status }) => status)).toEqual([303, 303]);
      await sendAll(site);
      expect(application.tokens).toEqual([]);
    });

    test('at the sign-out, also if its grant outlives the browser', async () => {
      const there = await at.visit('openid offline_access documents:read');
      application.tokens.length = 0;
      await there.browser.submit(await there.browser.open('/sign-out'), { logout: 'yes' });
      await sendAll(site);
      expect(toldBy(application.tokens)).toEqual([{ sub: there.accountId, sid: there.sid }]);
      expect((await refresh(at, there.refreshToken)).status).toBe(200);
    });

    test('for each grant, when an operator ends the client, also if the command was killed', async () => {
      const visits = [await at.visit(), await at.visit()];
      const { stores, longestLife, clock } = site.server;
      expect(await stores.logouts.due(clock.now())).not.toContain('web');
      application.tokens.length = 0;
      // The first step of `client end` only, as if the process was killed after it.
      await stores.revocations.raise('client', 'web', clock.now() + longestLife * 1000);
      await sendAll(site);
      await endAccessOfClient.run({ client_id: 'web' }, at.house);
      await sendAll(site);
      const told = toldBy(application.tokens);
      for (const { accountId, sid } of visits) {
        expect(told.filter(({ sub }) => sub === accountId)).toEqual([{ sub: accountId, sid }]);
      }
    });
  });

  describe('grants that are not told', () => {
    /** Ends all of a person; resolves to what the application hears. */
    async function heardAtEnd({ name }: Visit) {
      application.tokens.length = 0;
      await sendDuring(site, () => disableUser.run({ name }, at.house));
      return toldBy(application.tokens);
    }

    test('a grant from before the logout URL is told once the person has allowed the application again', async () => {
      const { clients } = site.server.stores;
      const { backchannel_logout_uri: _, ...without } = application.client;
      await clients.replace(without);
      const [one, other] = [await at.visit(), await at.visit()];
      await clients.replace(application.client);
      expect(await heardAtEnd(one)).toEqual([]);
      const consent = await other.browser.open(site.authorize({ prompt: 'consent' }));
      await site.redeem(await other.browser.submit(consent, { decision: 'allow' }));
      const sub = other.accountId;
      expect(await heardAtEnd(other)).toEqual(
        expect.arrayContaining([{ sub }, { sub, sid: other.sid }]),
      );
    });

    test('a grant that has expired and was swept is told neither then nor when all of the person ends', async () => {
      const there = await at.visit();
      const [access] = await listAccess(site.server, there.accountId);
      if (access === undefined) throw new Error('there is no grant');
      await recordAccess(site.server, access, 0);
      await site.server.stores.sweep();
      expect(await site.server.stores.logouts.waiting(there.accountId)).toEqual([]);
      expect(await heardAtEnd(there)).toEqual([]);
    });
  });

  test('a removed client is not told, since it has no logout URL any more', async () => {
    const { stores } = site.server;
    await stores.clients.add({ ...application.client, client_id: 'gone' });
    const there = await at.visit();
    await recordAccess(
      site.server,
      {
        ...(await listAccess(site.server, there.accountId))[0]!,
        clientId: 'gone',
        grantId: fresh(),
      },
      600,
    );
    application.tokens.length = 0;
    await removeClient.run({ client_id: 'gone' }, at.house);
    await sendAll(site);
    expect(application.tokens).toEqual([]);
  });

  test('OpenID Connect Back-Channel Logout 1.0 section 2.4: a logout token has the members of the standard, and no nonce', async () => {
    const there = await at.visit();
    application.tokens.length = 0;
    await there.browser.submit(await there.browser.open('/sign-out'), { logout: 'yes' });
    await sendAll(site);
    const [token = ''] = application.tokens;
    const { kid } = decodeProtectedHeader(token);
    const jwk = site.ring.current.publicJwks.find((one) => one['kid'] === kid) ?? {};
    const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'), {
      typ: 'logout+jwt',
      issuer: site.server.config.issuer,
      audience: 'web',
    });
    expect(payload).toEqual({
      iss: site.server.config.issuer,
      aud: 'web',
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 120,
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      sub: there.accountId,
      sid: there.sid,
    });
    expect(decodeJwt(token)).not.toHaveProperty('nonce');
  });
});

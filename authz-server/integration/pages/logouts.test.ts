import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, decodeJwt, jwtVerify, importJWK } from 'jose';
import { endAccessOfClient } from '#shared/operations/clients/client-end.ts';
import { removeClient } from '#shared/operations/clients/client-remove.ts';
import { disableUser } from '#shared/operations/people/user-disable.ts';
import { endUser } from '#shared/operations/people/user-end.ts';
import { removeUser } from '#shared/operations/people/user-remove.ts';
import { listAccess, MOST_GRANTS, recordAccess } from '#shared/people/access/grants.ts';
import { listSignIns, MOST_SIGN_INS, recordSignIn } from '#shared/people/access/sign-ins.ts';
import { addPerson, setPassword } from '#shared/people/people.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import { fresh, somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { fetched } from '../fetched.fixture.ts';
import { claimsOf, PASSWORD, testSite, type TestSite, WEB } from '../site.fixture.ts';
import { renewPassword } from '#shared/operations/people/user-passwd.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import type { Page, TestBrowser } from '../browser.fixture.ts';
import { sendAll, startApplication, toldBy } from './logouts.fixture.ts';

let site: TestSite;
let application: Awaited<ReturnType<typeof startApplication>>;
beforeAll(async () => {
  site = await testSite();
  application = await startApplication();
  await site.server.stores.clients.replace(application.client);
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await application[Symbol.asyncDispose]();
});

const house = () => ({
  ...site.server,
  masterSecret: () => Promise.resolve(site.server.master),
});

interface Visit {
  readonly browser: TestBrowser;
  readonly name: string;
  readonly accountId: string;
  readonly grant: string;
  readonly uid: string;
  /** The `sid` of the ID token. */
  readonly sid: unknown;
  readonly code: string;
  readonly refreshToken: unknown;
}

/** Signs a new person in at the application. */
async function visit(scope = 'openid documents:read'): Promise<Visit> {
  const name = fresh().toLowerCase();
  await addPerson(site.server, { name, password: PASSWORD });
  return visitOf(name, scope);
}

async function visitOf(name: string, scope: string): Promise<Visit> {
  const browser = site.browser();
  const asked = await browser.open(site.authorize({ prompt: 'consent', scope }));
  const consent = await browser.submit(asked, { name, password: PASSWORD });
  const answer = await browser.submit(consent, { decision: 'allow' });
  const tokens = await site.redeem(answer);
  const accountId = String(claimsOf(tokens['access_token'])['sub']);
  const [signIn] = await listSignIns(site.server, accountId);
  return {
    browser,
    name,
    accountId,
    grant: String(claimsOf(tokens['access_token'])['grant_id']),
    uid: signIn?.uid ?? '',
    sid: claimsOf(tokens['id_token'])['sid'],
    code: new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '',
    refreshToken: tokens['refresh_token'],
  };
}

const post = (path: string, form: Record<string, string>) =>
  fetched(`${site.url}${path}`, { method: 'POST', body: new URLSearchParams(form) });

const refresh = (token: unknown) =>
  post('/token', {
    grant_type: 'refresh_token',
    client_id: 'web',
    refresh_token: String(token),
  });

/** Ends something from the account page. */
async function endAt({ browser }: Visit, form: Record<string, string>) {
  return browser.submit(await browser.open('/account/end'), { id: '', ...form }, '/account');
}

/** The application hears of this browser alone. */
const BROWSER: Readonly<Record<string, (visit: Visit) => Promise<unknown>>> = {
  'the person signs out': async ({ browser }) =>
    browser.submit(await browser.open('/sign-out'), { logout: 'yes' }),
  'the application asks for the sign-out': async ({ browser }) =>
    browser.submit(await browser.open('/session/end?client_id=web'), { logout: 'yes' }),
  'the person ends the sign-in on the account page': (there) =>
    endAt(there, { end: 'sign-in', id: there.uid }),
  'the person ends the grant on the account page': (there) =>
    endAt(there, { end: 'access', id: there.grant }),
  'the person ends the application on the account page': (there) =>
    endAt(there, { end: 'application', id: 'web' }),
  'another person signs in with the same browser': async ({ browser }) =>
    browser.submit(await browser.open(site.authorize({ prompt: 'login' })), {
      name: 'bob',
      password: PASSWORD,
    }),
  'an operator ends the grant of the person': ({ name, grant }) =>
    endUser.run({ name, grant }, house()),
  'an operator ends the sign-in of the person': ({ name, uid }) =>
    endUser.run({ name, sign_in: uid }, house()),
  'an operator ends the application of the person': ({ name }) =>
    endUser.run({ name, client: 'web' }, house()),
  'an operator ends the grant of the client': ({ grant }) =>
    endAccessOfClient.run({ client_id: 'web', grant }, house()),
  'the application revokes its refresh token': ({ refreshToken }) =>
    post('/token/revocation', { client_id: 'web', token: String(refreshToken) }),
  'a code is redeemed twice': ({ code }) =>
    post('/token', {
      grant_type: 'authorization_code',
      client_id: 'web',
      code,
      code_verifier: 'a'.repeat(43),
      redirect_uri: 'https://app.example/callback',
    }),
  'a replaced refresh token is used again': async ({ refreshToken }) => {
    const { refresh_token: next } = (await (await refresh(refreshToken)).json()) as {
      readonly refresh_token: string;
    };
    await refresh(next);
    await refresh(refreshToken);
  },
  'the person has more grants than are kept': async ({ accountId }) => {
    const [access] = await listAccess(site.server, accountId);
    if (access === undefined) throw new Error('there is no grant');
    const { uid: _, ...others } = access;
    for (let n = 0; n < MOST_GRANTS; n += 1) {
      await recordAccess(site.server, { ...others, grantId: fresh() }, 1e8);
    }
  },
  'the person has more sign-ins than are kept': async ({ accountId }) => {
    const [signIn] = await listSignIns(site.server, accountId);
    if (signIn === undefined) throw new Error('there is no sign-in');
    for (let n = 0; n < MOST_SIGN_INS; n += 1) {
      await recordSignIn(site.server, { ...signIn, uid: fresh() }, 1e8);
    }
  },
  'the passkey of the sign-in is removed': async ({ accountId, uid }) => {
    const { stores } = site.server;
    const passkey = { ...somePasskey(fresh()), accountId };
    await stores.passkeys.add(passkey, 9);
    const [signIn] = await listSignIns(site.server, accountId);
    if (signIn === undefined) throw new Error('there is no sign-in');
    await recordSignIn(site.server, { ...signIn, uid, passkey: passkey.id }, 600);
    await removePasskey(site.server, { accountId, id: passkey.id, least: 0 });
  },
};

/** The application hears of all sessions of the person: of each browser, and of the person alone. */
const PERSON: Readonly<Record<string, (visit: Visit) => Promise<unknown>>> = {
  'the person ends everything on the account page': (there) => endAt(there, { end: 'everything' }),
  'an operator ends all of the person': ({ name }) => endUser.run({ name }, house()),
  'an operator disables the person': ({ name }) => disableUser.run({ name }, house()),
  'an operator removes the person': ({ name }) => removeUser.run({ name, trees: false }, house()),
  'the person has another password': ({ name }) =>
    setPassword(site.server, name, 'another password'),
  'the person has a second factor': ({ accountId }) =>
    site.server.stores.secondFactors.setUp({
      factor: { ...someSecondFactor(accountId), accountId },
      generation: 0,
      until: Date.now() + 600_000,
    }),
};

describe('the server names the applications that it has not told yet', () => {
  const { client_name: app } = WEB;

  const OPERATIONS: Readonly<Record<string, (visit: Visit) => Promise<unknown>>> = {
    'user end': ({ name }) => endUser.run({ name }, house()),
    'user end --grant': ({ name, grant }) => endUser.run({ name, grant }, house()),
    'user disable': ({ name }) => disableUser.run({ name }, house()),
    'user passwd': ({ name }) => renewPassword.run({ name }, house()),
    'user remove': ({ name }) => removeUser.run({ name, trees: false }, house()),
    'client end': () => endAccessOfClient.run({ client_id: 'web' }, house()),
    'client end --grant': ({ grant }) =>
      endAccessOfClient.run({ client_id: 'web', grant }, house()),
  };

  test.each(Object.entries(OPERATIONS))('in the answer of `%s`', async (_, end) => {
    expect(await end(await visit())).toMatchObject({ untold: [app] });
    await sendAll(site);
  });

  test('no more once it has told them', async () => {
    const { name } = await visit();
    const ended = endUser.run({ name }, house());
    await eventually(async () => {
      const due = await site.server.stores.logouts.due(Date.now());
      if (due.length === 0) throw new Error('not yet');
    });
    await sendAll(site);
    expect(await ended).not.toHaveProperty('untold');
  });

  const SAID = 'goes on trying: Web &amp; &lt;b&gt;App&lt;/b&gt;.';
  const PAGES: Readonly<Record<string, (visit: Visit) => Promise<Page>>> = {
    'after the sign-out': async ({ browser }) =>
      browser.submit(await browser.open('/sign-out'), { logout: 'yes' }),
    'after everything has ended': (there) => endAt(there, { end: 'everything' }),
    'after an application has ended': (there) => endAt(there, { end: 'application', id: 'web' }),
    'after the sign-in of this browser has ended': (there) =>
      endAt(there, { end: 'sign-in', id: there.uid }),
  };

  test.each(Object.entries(PAGES))('on the page %s', async (_, end) => {
    expect((await end(await visit())).text).toContain(SAID);
    await sendAll(site);
  });
});

describe('an application with a logout URL gets a logout token', () => {
  test.each(Object.entries(BROWSER))('for one browser: %s', async (_, end) => {
    const there = await visit();
    expect(there.sid).toMatch(/^[\w-]{22}$/);
    application.tokens.length = 0;
    await end(there);
    await sendAll(site);
    expect(toldBy(application.tokens)).toEqual([{ sub: there.accountId, sid: there.sid }]);
  });

  test.each(Object.entries(PERSON))('for all sessions of the person: %s', async (_, end) => {
    const there = await visit();
    const elsewhere = await visitOf(there.name, 'openid');
    application.tokens.length = 0;
    await end(there);
    await sendAll(site);
    const told = toldBy(application.tokens);
    const sub = there.accountId;
    expect(told).toHaveLength(3);
    expect(told).toEqual(
      expect.arrayContaining([{ sub }, { sub, sid: there.sid }, { sub, sid: elsewhere.sid }]),
    );
  });

  test('at the sign-out, also if its grant outlives the browser', async () => {
    const there = await visit('openid offline_access documents:read');
    application.tokens.length = 0;
    await there.browser.submit(await there.browser.open('/sign-out'), { logout: 'yes' });
    await sendAll(site);
    expect(toldBy(application.tokens)).toEqual([{ sub: there.accountId, sid: there.sid }]);
    expect((await refresh(there.refreshToken)).status).toBe(200);
  });

  test('for each grant, when an operator ends the client, also if the command was killed', async () => {
    const visits = [await visit(), await visit()];
    const { stores, longestLife, clock } = site.server;
    expect(await stores.logouts.due(Infinity)).not.toContain('web');
    application.tokens.length = 0;
    // The first step of `client end` only, as if the process was killed after it.
    await stores.revocations.raise('client', 'web', clock.now() + longestLife * 1000);
    await sendAll(site);
    await endAccessOfClient.run({ client_id: 'web' }, house());
    await sendAll(site);
    const told = toldBy(application.tokens);
    for (const { accountId, sid } of visits) {
      expect(told.filter(({ sub }) => sub === accountId)).toEqual([{ sub: accountId, sid }]);
    }
  });
});

test('a removed client is not told, since it has no logout URL any more', async () => {
  const { stores } = site.server;
  await stores.clients.add({ ...application.client, client_id: 'gone' });
  const there = await visit();
  await recordAccess(
    site.server,
    { ...(await listAccess(site.server, there.accountId))[0]!, clientId: 'gone', grantId: fresh() },
    600,
  );
  application.tokens.length = 0;
  await removeClient.run({ client_id: 'gone' }, house());
  await sendAll(site);
  expect(application.tokens).toEqual([]);
});

test('OpenID Connect Back-Channel Logout 1.0 section 2.4: a logout token has the members of the standard, and no nonce', async () => {
  const there = await visit();
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

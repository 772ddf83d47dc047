import { endAccessOfClient } from '#shared/operations/clients/client-end.ts';
import { setClient } from '#shared/operations/clients/client-set.ts';
import { type House, perform } from '#shared/operations/operation.ts';
import { disableUser } from '#shared/operations/people/user-disable.ts';
import { endUser } from '#shared/operations/people/user-end.ts';
import { removeUser } from '#shared/operations/people/user-remove.ts';
import { removeSecondFactor } from '#shared/operations/people/user-second-factor.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { listAccess, MOST_GRANTS, recordAccess } from '#shared/people/access/grants.ts';
import { listSignIns, MOST_SIGN_INS, recordSignIn } from '#shared/people/access/sign-ins.ts';
import { addPerson, setPassword } from '#shared/people/people.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { fresh, somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { APP, basic, SECRET } from '../authz.fixture.ts';
import { houseOf } from '../../base/house.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { fetched } from '../fetched.fixture.ts';
import { claimsOf, PASSWORD, testSite, type TestSite } from '../site.fixture.ts';
import { startApplication } from './logouts.fixture.ts';

export interface Visit {
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

/** The authorization server with an application that hears of ends. */
export interface LogoutSite extends AsyncDisposable {
  readonly site: TestSite;
  readonly application: Awaited<ReturnType<typeof startApplication>>;
  readonly house: House;
  /** Signs a new person in at the application. */
  visit(scope?: string): Promise<Visit>;
  /** Signs a person in, in a new browser. */
  visitOf(name: string, scope: string): Promise<Visit>;
}

export async function openLogoutSite(settings?: object): Promise<LogoutSite> {
  const site = await testSite({ ...settings });
  const application = await startApplication();
  await site.server.stores.clients.replace(application.client);

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

  return {
    site,
    application,
    house: houseOf(site.server),
    async visit(scope = 'openid documents:read') {
      const name = fresh().toLowerCase();
      await addPerson(site.server, { name, password: PASSWORD });
      return visitOf(name, scope);
    },
    visitOf,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await application[Symbol.asyncDispose]();
    },
  };
}

const post = ({ site }: LogoutSite, path: string, form: Record<string, string>) =>
  fetched(`${site.url}${path}`, { method: 'POST', body: new URLSearchParams(form) });

export const refresh = (at: LogoutSite, token: unknown) =>
  post(at, '/token', {
    grant_type: 'refresh_token',
    client_id: 'web',
    refresh_token: String(token),
  });

/** Ends something from the account page. */
export async function endAt({ browser }: Visit, form: Record<string, string>) {
  return browser.submit(await browser.open('/account/end'), { id: '', ...form }, '/account');
}

/** Sends the form of an operation as an administrator. */
async function administer({ site, house }: LogoutSite, path: string): Promise<void> {
  await perform(setUser, { name: 'alice', admin: true }, house);
  const browser = site.browser();
  await browser.submit(await browser.open('/account'), { name: 'alice', password: PASSWORD });
  await browser.submit(await browser.open(`/admin/${path}`));
}

/** Performs an operation by the administration API, as a machine that may administer. */
async function administerByApi({ site }: LogoutSite, operation: string, content: object) {
  const { config, stores } = site.server;
  const machine = { ...APP, client_id: 'machine', scope: 'admin', admin: true };
  await stores.clients.add(machine);
  const resource = `${config.issuer}/admin/api`;
  const answer = await fetched(`${site.url}/token`, {
    method: 'POST',
    headers: basic('machine', SECRET),
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'admin', resource }),
  });
  const { access_token } = (await answer.json()) as Record<string, unknown>;
  const done = await fetched(`${site.url}/admin/api/${operation}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${String(access_token)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(content),
  });
  if (done.status !== 200) throw new Error(`${done.status} ${await done.text()}`);
}

/** Ways in which something ends. */
type Ends = Readonly<Record<string, (there: Visit, at: LogoutSite) => Promise<unknown>>>;

/** The application hears of this browser alone. */
export const BROWSER: Ends = {
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
  'another person signs in with the same browser': async ({ browser }, { site }) =>
    browser.submit(await browser.open(site.authorize({ prompt: 'login' })), {
      name: 'bob',
      password: PASSWORD,
    }),
  'an operator ends the grant of the person': ({ name, grant }, { house }) =>
    endUser.run({ name, grant }, house),
  'an operator ends the sign-in of the person': ({ name, uid }, { house }) =>
    endUser.run({ name, sign_in: uid }, house),
  'an operator ends the application of the person': ({ name }, { house }) =>
    endUser.run({ name, client: 'web' }, house),
  'an operator ends the grant of the client': ({ grant }, { house }) =>
    endAccessOfClient.run({ client_id: 'web', grant }, house),
  'a machine ends the grant of the person by the administration API': ({ name, grant }, at) =>
    administerByApi(at, 'user-end', { name, grant }),
  'the application revokes its refresh token': ({ refreshToken }, at) =>
    post(at, '/token/revocation', { client_id: 'web', token: String(refreshToken) }),
  'a code is redeemed twice': ({ code }, at) =>
    post(at, '/token', {
      grant_type: 'authorization_code',
      client_id: 'web',
      code,
      code_verifier: 'a'.repeat(43),
      redirect_uri: 'https://app.example/callback',
    }),
  'a replaced refresh token is used again': async ({ refreshToken }, at) => {
    const { refresh_token: next } = (await (await refresh(at, refreshToken)).json()) as {
      readonly refresh_token: string;
    };
    await refresh(at, next);
    await refresh(at, refreshToken);
  },
  'the person has more grants than are kept': async ({ accountId }, { site }) => {
    const [access] = await listAccess(site.server, accountId);
    if (access === undefined) throw new Error('there is no grant');
    const { uid: _, ...others } = access;
    for (let n = 0; n < MOST_GRANTS; n += 1) {
      await recordAccess(site.server, { ...others, grantId: fresh() }, 1e8);
    }
  },
  'the person has more sign-ins than are kept': async ({ accountId }, { site }) => {
    const [signIn] = await listSignIns(site.server, accountId);
    if (signIn === undefined) throw new Error('there is no sign-in');
    for (let n = 0; n < MOST_SIGN_INS; n += 1) {
      await recordSignIn(site.server, { ...signIn, uid: fresh() }, 1e8);
    }
  },
  'the passkey of the sign-in is removed': async ({ accountId, uid }, { site }) => {
    const { stores } = site.server;
    const passkey = { ...somePasskey(fresh()), accountId };
    await stores.passkeys.add(passkey, 9);
    const [signIn] = await listSignIns(site.server, accountId);
    if (signIn === undefined) throw new Error('there is no sign-in');
    await recordSignIn(site.server, { ...signIn, uid, passkey: passkey.id }, 600);
    await removePasskey(site.server, { accountId, id: passkey.id, least: 0 });
  },
  'the passkey of a grant that outlives the browser is removed': async (
    { accountId, grant },
    { site },
  ) => {
    const { stores } = site.server;
    const passkey = { ...somePasskey(fresh()), accountId };
    await stores.passkeys.add(passkey, 9);
    const [access] = await listAccess(site.server, accountId);
    if (access === undefined) throw new Error('there is no grant');
    const { signIn: _, ...others } = access;
    await recordAccess(site.server, { ...others, grantId: grant, passkey: passkey.id }, 600);
    await removePasskey(site.server, { accountId, id: passkey.id, least: 0 });
  },
  'the application is no longer of the operator': async (
    { accountId, grant, browser },
    { site },
  ) => {
    // As if the person was not asked.
    const [access] = await listAccess(site.server, accountId);
    if (access === undefined) throw new Error('there is no grant');
    await recordAccess(site.server, { ...access, grantId: grant, byOperator: true }, 600);
    await browser.open(site.authorize());
  },
  'an operator takes the group from the person': async ({ name }, { site, house }) => {
    const web = await site.server.stores.clients.get('web');
    if (web === undefined) throw new Error('there is no client');
    await setProfile(house, name, () => ({ groups: ['staff'] }));
    await site.server.stores.clients.replace({ ...web, allow_groups: ['staff'] });
    await setUser.run({ name, without: ['group'] }, house);
    await site.server.stores.clients.replace(web);
  },
  'an operator names other people for the application': async (_, { house }) => {
    await setClient.run({ client_id: 'web', allow_people: ['bob'], without: [] }, house);
    await setClient.run({ client_id: 'web', without: ['allow-person'] }, house);
  },
};

/** The application hears of all sessions of the person: of each browser, and of the person alone. */
export const PERSON: Ends = {
  'the person ends everything on the account page': (there) => endAt(there, { end: 'everything' }),
  'an operator ends all of the person': ({ name }, { house }) => endUser.run({ name }, house),
  'an operator disables the person': ({ name }, { house }) => disableUser.run({ name }, house),
  'an operator removes the person': ({ name }, { house }) =>
    removeUser.run({ name, trees: false }, house),
  'the person has another password': ({ name }, { site }) =>
    setPassword(site.server, name, 'another password'),
  'the person has a second factor': ({ accountId }, { site }) =>
    site.server.stores.secondFactors.setUp({
      factor: { ...someSecondFactor(accountId), accountId },
      generation: 0,
      until: Date.now() + 600_000,
    }),
  'an administrator disables the person on a page': ({ name }, at) =>
    administer(at, `user-disable?name=${name}`),
  'a machine disables the person by the administration API': ({ name }, at) =>
    administerByApi(at, 'user-disable', { name }),
  'an operator removes the second factor of the person': async (
    { accountId, name },
    { site, house },
  ) => {
    await site.server.stores.secondFactors.add({ ...someSecondFactor(accountId), accountId });
    await removeSecondFactor.run({ name }, house);
  },
  'the person changes the password on the account page': async ({ browser }) =>
    browser.submit(
      await browser.open('/account/password'),
      { current: PASSWORD, password: 'another horse, another battery' },
      '/account/password',
    ),
};

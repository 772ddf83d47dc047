import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/clock.ts';
import { temporaryFolder } from '#shared/config/temporary.fixture.ts';
import { randomId, systemRandom } from '#shared/random.ts';
import type { RevocableClaims } from '#shared/stores/revocations.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AccessStore } from './access-store.ts';
import { endEverything } from './everything.ts';
import { endGrant, findAccess, listAccess, noteIssue, recordAccess } from './grants.ts';
import type { Access } from './grants.ts';
import { endSignIn, findSignIn, listSignIns, recordSignIn } from './sign-ins.ts';
import type { SignIn } from './sign-ins.ts';

const LIFE = 600;
const clock = new ManualClock();
let stores: Stores;
let store: AccessStore;

beforeAll(async () => {
  stores = await openSqlite({ folder: await temporaryFolder(), clock, random: systemRandom });
  store = { stores, clock, longestLife: LIFE };
  await stores.revocations.epoch(true);
});
afterAll(async () => stores[Symbol.asyncDispose]());

const fresh = () => randomId(systemRandom);

async function signIn(accountId: string, more: Partial<SignIn> = {}): Promise<SignIn> {
  const made = { uid: fresh(), accountId, generation: 0, since: clock.now(), ...more };
  await recordSignIn(store, made, 1000);
  return made;
}

/** As the engine and the consent page leave it: Grant, RefreshToken and Access. */
async function allow(accountId: string, more: Partial<Access> = {}): Promise<Access> {
  const grantId = fresh();
  const access = {
    grantId,
    accountId,
    clientId: 'app',
    generation: 0,
    since: clock.now(),
    ...more,
  };
  const grant = {
    accountId,
    openid: { scope: 'openid profile' },
    resources: { 'https://api.example/': 'read write' },
    rejected: { resources: { 'https://api.example/': 'write' }, openid: { scope: 'profile' } },
  };
  await stores.artefacts.put({ kind: 'Grant', id: grantId, payload: grant, seconds: 1000 });
  const payload = { grantId, accountId };
  await stores.artefacts.put({ kind: 'RefreshToken', id: `r-${grantId}`, payload, seconds: 1000 });
  await recordAccess(store, access, 1000);
  return access;
}

/** Claims of a token of that grant, as the authorization server signs them. */
const claimsOf = async ({ grantId, accountId, generation }: Access): Promise<RevocableClaims> => ({
  jti: fresh(),
  kid: 'k',
  sub: accountId,
  client_id: 'app',
  grant_id: grantId,
  sub_gen: generation,
  client_gen: 0,
  epoch: (await stores.revocations.epoch(false)) ?? '',
});

async function revokedBy(access: Access) {
  await using feed = await stores.revocations.feed();
  return (await feed.latest()).revokedBy(await claimsOf(access));
}

describe('what a person sees', () => {
  test('grants with the scopes that were granted, not with the refused ones; the latest first', async () => {
    const accountId = fresh();
    const first = await allow(accountId);
    clock.advance(10);
    const second = await allow(accountId, { device: { address: '192.0.2.1' } });
    await noteIssue(store, second.grantId, 1000);
    await allow(fresh());
    const scopes = { '': ['openid'], 'https://api.example/': ['read'] };
    expect(await listAccess(store, accountId)).toEqual([
      { ...second, scopes, lastIssue: clock.now() },
      { ...first, scopes },
    ]);
  });

  test('sign-ins of theirs alone', async () => {
    const accountId = fresh();
    const made = await signIn(accountId, { agent: 'Firefox', address: '192.0.2.1' });
    await signIn(fresh());
    expect(await listSignIns(store, accountId)).toEqual([made]);
    expect(await findSignIn(store, made.uid)).toEqual(made);
  });

  test('what has expired is gone', async () => {
    const accountId = fresh();
    const access = await allow(accountId);
    const made = await signIn(accountId);
    clock.advance(1001);
    expect(await findAccess(store, access.grantId)).toBeUndefined();
    expect(await findSignIn(store, made.uid)).toBeUndefined();
    expect(await listAccess(store, accountId)).toEqual([]);
    expect(await listSignIns(store, accountId)).toEqual([]);
  });
});

describe('ending', () => {
  test('RFC 7009 section 2.1: a grant ends with its refresh tokens and its access tokens, no other does', async () => {
    const accountId = fresh();
    const [ended, other] = [await allow(accountId), await allow(accountId)];
    await endGrant(store, ended.grantId);
    expect(await revokedBy(ended)).toBe('grant');
    expect(await revokedBy(other)).toBeUndefined();
    expect(await findAccess(store, ended.grantId)).toBeUndefined();
    expect(await stores.artefacts.get('RefreshToken', `r-${ended.grantId}`)).toBeUndefined();
    expect(await stores.artefacts.get('Grant', ended.grantId)).toBeUndefined();
    expect(await listAccess(store, accountId)).toHaveLength(1);
  });

  test('a sign-in ends with the grants that were given in it alone, not with those that outlive it', async () => {
    const accountId = fresh();
    const [one, two] = [await signIn(accountId), await signIn(accountId)];
    const within = await allow(accountId, { signIn: one.uid });
    const elsewhere = await allow(accountId, { signIn: two.uid });
    const offline = await allow(accountId);
    await endSignIn(store, one);
    expect(await findSignIn(store, one.uid)).toBeUndefined();
    expect(await findSignIn(store, two.uid)).toEqual(two);
    expect(await revokedBy(within)).toBe('grant');
    expect(await revokedBy(elsewhere)).toBeUndefined();
    expect(await revokedBy(offline)).toBeUndefined();
  });

  test('everything ends at once, and of somebody else nothing', async () => {
    const [accountId, somebodyElse] = [fresh(), fresh()];
    const made = await signIn(accountId);
    const access = await allow(accountId);
    const theirs = await allow(somebodyElse);
    await endEverything(store, accountId);
    expect(await findSignIn(store, made.uid)).toBeUndefined();
    expect(await findAccess(store, access.grantId)).toBeUndefined();
    expect(await revokedBy(access)).toBe('grant');
    expect(await revokedBy(theirs)).toBeUndefined();
    expect(await stores.artefacts.listByAccount('SignIn', accountId)).toEqual([]);
    expect(await stores.artefacts.listByAccount('Access', accountId)).toEqual([]);
  });

  test('what was in flight with an earlier generation stays ended, although it is written afterwards', async () => {
    const accountId = fresh();
    await endEverything(store, accountId);
    const late = await allow(accountId, { generation: 0 });
    const session = await signIn(accountId, { generation: 0 });
    expect(await findAccess(store, late.grantId)).toBeUndefined();
    expect(await findSignIn(store, session.uid)).toBeUndefined();
    expect(await listAccess(store, accountId)).toEqual([]);
    expect(await listSignIns(store, accountId)).toEqual([]);
    expect(await revokedBy(late)).toBe('person');
    const anew = await allow(accountId, { generation: 1 });
    expect(await findAccess(store, anew.grantId)).toEqual(anew);
    expect(await revokedBy(anew)).toBeUndefined();
  });
});

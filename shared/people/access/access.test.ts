import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from './assurance.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AccessStore } from './access-store.ts';
import { recordConsent } from './consents.ts';
import { endEverything } from './everything.ts';
import {
  endGrant,
  findAccess,
  findAccessOfPerson,
  listAccess,
  MOST_GRANTS,
  noteIssue,
  pageOfGrants,
  recordAccess,
} from './grants.ts';
import type { Access } from './grants.ts';
import { endClient } from './of-client.ts';
import { endSignIn, findSignIn, listSignIns, MOST_SIGN_INS, recordSignIn } from './sign-ins.ts';
import type { SignIn } from './sign-ins.ts';

const LIFE = 600;
const clock = new ManualClock();
let stores: Stores;
let store: AccessStore;

beforeAll(async () => {
  stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
  store = { stores, clock, longestLife: LIFE };
  await stores.revocations.epoch(true);
});
afterAll(async () => stores[Symbol.asyncDispose]());

const fresh = () => randomId(systemRandom);

async function signIn(accountId: string, more: Partial<SignIn> = {}): Promise<SignIn> {
  const made = {
    uid: fresh(),
    accountId,
    generation: 0,
    since: clock.now(),
    assurance: BY_PASSWORD,
    ...more,
  };
  await recordSignIn(store, made, 1000);
  return made;
}

/** Stores a Grant, a RefreshToken and an Access, as the engine and the consent page do. */
async function allow(accountId: string, more: Partial<Access> = {}): Promise<Access> {
  const grantId = fresh();
  const access = {
    grantId,
    accountId,
    clientId: 'app',
    generation: 0,
    clientGeneration: 0,
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

/** Returns the claims of a token of that grant, as the authorization server signs them. */
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

describe('the list of access that a person sees', () => {
  test('the list has grants with the granted scopes, without the refused scopes, latest first', async () => {
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

  test("the list has only the person's own sign-ins", async () => {
    const accountId = fresh();
    const made = await signIn(accountId, { agent: 'Firefox', address: '192.0.2.1' });
    await signIn(fresh());
    expect(await listSignIns(store, accountId)).toEqual([made]);
    expect(await findSignIn(store, made.uid)).toEqual(made);
  });

  test('the list has no expired entries', async () => {
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

describe('the end of access', () => {
  test('RFC 7009 section 2.1: ending a grant ends its refresh tokens and access tokens, and no other grant', async () => {
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

  test('ending a sign-in ends the grants that depend on it, and no grant that outlives it', async () => {
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

  test('a browser stays signed in until its grants have ended, so that a failed end can be repeated', async () => {
    const accountId = fresh();
    const one = await signIn(accountId);
    const within = await allow(accountId, { signIn: one.uid });
    const revoke = () => Promise.reject(new StoreUnavailable('down'));
    const revocations = { ...stores.revocations, revoke };
    const failing = { ...store, stores: { ...stores, revocations } };
    await expect(endSignIn(failing, one)).rejects.toThrow(StoreUnavailable);
    expect(await findSignIn(store, one.uid)).toEqual(one);
    await endSignIn(store, one);
    expect(await findSignIn(store, one.uid)).toBeUndefined();
    expect(await revokedBy(within)).toBe('grant');
  });

  test('only its person finds a grant, and not after all access of the person has ended', async () => {
    const accountId = fresh();
    const access = await allow(accountId);
    const { grantId } = access;
    expect(await findAccessOfPerson(store, { grantId, accountId })).toEqual(access);
    expect(await findAccessOfPerson(store, { grantId, accountId: fresh() })).toBeUndefined();
    await stores.revocations.raise('person', accountId, clock.now() + 1000);
    expect(await findAccessOfPerson(store, { grantId, accountId })).toBeUndefined();
  });

  test('all access of one person ends at once, and none of another person', async () => {
    const [accountId, somebodyElse] = [fresh(), fresh()];
    const made = await signIn(accountId);
    const access = await allow(accountId);
    const theirs = await allow(somebodyElse);
    expect(await endEverything(store, accountId)).toEqual({ signIns: 1, grants: 1, generation: 1 });
    expect(await findSignIn(store, made.uid)).toBeUndefined();
    expect(await findAccess(store, access.grantId)).toBeUndefined();
    expect(await revokedBy(access)).toBe('person');
    expect(await revokedBy(theirs)).toBeUndefined();
    expect(await stores.artefacts.listByAccount('SignIn', accountId)).toEqual([]);
    expect(await stores.artefacts.listByAccount('Access', accountId)).toEqual([]);
  });

  test('an artefact of an earlier generation is refused, even if it is written afterwards', async () => {
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

describe('a person with very many grants and sign-ins', () => {
  /** Stores grants as a store has them from before there was a limit. */
  async function hoard(accountId: string, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, fresh);
    for (const [n, grantId] of ids.entries()) {
      const payload = { grantId, accountId, clientId: 'app', generation: 0, since: n };
      const seconds = 1000 + n;
      await stores.artefacts.put({ kind: 'Access', id: grantId, payload, seconds });
    }
    for (const id of [ids[0], ids.at(-1)]) {
      const payload = { accountId, grantId: id };
      await stores.artefacts.put({ kind: 'RefreshToken', id: `r-${id}`, payload });
    }
    return ids;
  }
  /** Counts the turns of the event loop in which other work could run meanwhile. */
  async function turnsDuring(work: Promise<unknown>): Promise<number> {
    let turns = 0;
    const count = () => {
      turns += 1;
      pending = setImmediate(count);
    };
    let pending = setImmediate(count);
    await work;
    clearImmediate(pending);
    return turns;
  }

  test('a new grant over the limit ends the oldest grant with a revocation, and stays itself', async () => {
    const accountId = fresh();
    const [oldest = '', ...others] = await hoard(accountId, MOST_GRANTS);
    const ended = await findAccess(store, oldest);
    if (ended === undefined) throw new Error('there is no oldest grant');
    // Without the rule it would end first, since a grant that depends on a session ends soonest.
    const added = await allow(accountId);
    const left = (await listAccess(store, accountId)).map(({ grantId }) => grantId);
    expect(new Set(left)).toEqual(new Set([...others, added.grantId]));
    expect(await stores.artefacts.get('RefreshToken', `r-${oldest}`)).toBeUndefined();
    expect(await revokedBy(ended)).toBe('grant');
    const next = await allow(accountId);
    expect(await findAccess(store, added.grantId)).toEqual(added);
    expect(await findAccess(store, next.grantId)).toEqual(next);
    expect(await listAccess(store, accountId)).toHaveLength(MOST_GRANTS);
  });

  test('grants given at the same time never exceed the limit', async () => {
    const accountId = fresh();
    await hoard(accountId, MOST_GRANTS - 2);
    await Promise.all(Array.from({ length: 6 }, () => allow(accountId)));
    expect(await listAccess(store, accountId)).toHaveLength(MOST_GRANTS);
  });

  test('a sign-in over the limit signs out the oldest browser, and ends its grants', async () => {
    const accountId = fresh();
    const first = await signIn(accountId);
    const within = await allow(accountId, { signIn: first.uid });
    for (let n = 0; n < MOST_SIGN_INS; n++) {
      clock.advance(1);
      await signIn(accountId);
    }
    expect(await findSignIn(store, first.uid)).toBeUndefined();
    expect(await findAccess(store, within.grantId)).toBeUndefined();
    expect(await listSignIns(store, accountId)).toHaveLength(MOST_SIGN_INS);
  });

  test('a person who signs in again and again has at most as many sessions as sign-ins', async () => {
    const accountId = fresh();
    const sessions = async (uids: readonly string[]) => {
      const found = uids.map((uid) => stores.artefacts.getByUid('Session', uid));
      return (await Promise.all(found)).filter((one) => one !== undefined).length;
    };
    const uids: string[] = [];
    for (let n = 0; n < MOST_SIGN_INS + 3; n++) {
      const { uid } = await signIn(accountId);
      uids.push(uid);
      const payload = { uid, accountId, jti: uid };
      await stores.artefacts.put({ kind: 'Session', id: uid, payload, seconds: 1000 });
    }
    expect(await sessions(uids)).toBe(MOST_SIGN_INS);
    await endEverything(store, accountId);
    expect(await sessions(uids)).toBe(0);
  });

  test('a slice of the list reads and shows only its entries', async () => {
    const accountId = fresh();
    const ids = await hoard(accountId, 12);
    const slice = await listAccess(store, accountId, { skip: 10, count: 5 });
    expect(slice.map(({ grantId }) => grantId)).toEqual(ids.slice(0, 2).toReversed());
  });

  test('all access ends in batches with turns in between, and with a single revocation', async () => {
    const accountId = fresh();
    const ids = await hoard(accountId, 300);
    await using feed = await stores.revocations.feed();
    await feed.latest();
    const before = feed.status().entries;
    const turns = await turnsDuring(endEverything(store, accountId));
    expect(turns).toBeGreaterThanOrEqual(300 / 50);
    await feed.latest();
    expect(feed.status().entries).toBe(before + 1);
    expect(await stores.artefacts.countByAccount('Access', accountId)).toBe(0);
    for (const id of [ids[0], ids.at(-1)]) {
      expect(await stores.artefacts.get('RefreshToken', `r-${id}`)).toBeUndefined();
    }
  });
});

describe('the end of all access of a client', () => {
  async function consent(clientId: string, accountId = fresh()): Promise<void> {
    const scopes = { allowed: { '': ['openid'] }, refused: {} };
    const key = { accountId, clientId, redirectHost: 'app.example', generation: 0 };
    await recordConsent(store, { ...key, ...scopes, since: 0 }, { scope: 'openid' }, 1000);
  }
  const kept = async (kind: string, clientId: string) =>
    (await stores.artefacts.pageByClient(kind, clientId, { limit: 1000 })).found.length;

  test("all people's grants, tokens and consents for the client are removed in batches; those of other clients stay", async () => {
    const [clientId, another] = [fresh(), fresh()];
    const given = await Promise.all(
      Array.from({ length: 120 }, () => allow(fresh(), { clientId })),
    );
    await Promise.all(Array.from({ length: 60 }, () => consent(clientId)));
    const other = await allow(given[0]?.accountId ?? '', { clientId: another });
    await consent(another);
    await endClient(store, clientId);
    expect([await kept('Access', clientId), await kept('Consent', clientId)]).toEqual([0, 0]);
    for (const { grantId } of given) {
      expect(await stores.artefacts.get('Grant', grantId)).toBeUndefined();
      expect(await stores.artefacts.get('RefreshToken', `r-${grantId}`)).toBeUndefined();
    }
    expect(await findAccess(store, other.grantId)).toEqual(other);
    expect([await kept('Access', another), await kept('Consent', another)]).toEqual([1, 1]);
    await using feed = await stores.revocations.feed();
    const claims = { ...(await claimsOf(other)), client_id: clientId };
    expect((await feed.latest()).revokedBy(claims)).toBe('client');
  });

  test('a grant given after the end stays; a grant of an earlier generation is neither stored nor listed', async () => {
    const clientId = fresh();
    const late = await allow(fresh(), { clientId, clientGeneration: 1 });
    const former = await allow(fresh(), { clientId });
    await endClient(store, clientId);
    expect(await findAccess(store, former.grantId)).toBeUndefined();
    expect(await findAccess(store, late.grantId)).toEqual(late);
    // This is the state after a crash between raising the generation and removing the grants.
    await allow(fresh(), { clientId });
    const { grants } = await pageOfGrants(store, clientId, { limit: 9 });
    expect(grants.map(({ grantId }) => grantId)).toEqual([late.grantId]);
    await stores.revocations.raise('person', late.accountId, 1);
    expect(await pageOfGrants(store, clientId, { limit: 9 })).toEqual({ grants: [] });
  });
});

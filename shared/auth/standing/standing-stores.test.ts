import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { createPasswords } from '#shared/people/password.ts';
import { CountedArgon2 } from '#shared/people/directory.fixture.ts';
import { addPerson, disablePerson, type PeopleStore, setPassword } from '#shared/people/people.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { fresh, somePublicKey } from '#shared/stores/contract/samples.ts';
import type { StoreUnderTest } from '#shared/stores/contract/store-under-test.ts';
import { sharedUnderTest } from '#shared/stores/postgres/under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { GENERATE, signJws } from '#shared/jose/jws.fixture.ts';
import { apiKey } from '../schemes/api-key/api-key.ts';
import { requestOf } from '../judge/auth.fixture.ts';
import { personPrincipal } from '../person.ts';
import { hoba } from '../schemes/hoba/hoba.ts';
import { cookieName } from '../schemes/session/cookie.ts';
import { session } from '../schemes/session/session.ts';
import { createSessions } from '../schemes/session/sessions.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { Grounds, Principal, Verdict } from '../scheme.ts';
import { createStanding, type Standing } from './standing.ts';
import { createTokenVerifier } from '../tokens/token-verifier.ts';

/** Milliseconds between two checks, so that no test waits long. */
const LOOK = 20;
const ISSUER = 'https://as.example';
const SPACE = 'https://rs.example/a/';

describe.each([
  ['SQLite', (): Promise<StoreUnderTest> => sqliteUnderTest()],
  ['PostgreSQL with Redis', (): Promise<StoreUnderTest> => sharedUnderTest()],
])('access ends after a change by another process, on %s', (_, open) => {
  let store: StoreUnderTest;
  let here: Stores;
  let there: Stores;
  let feed: RevocationFeed;
  let standing: Standing;
  let people: PeopleStore;
  beforeAll(async () => {
    store = await open();
    here = await store.open();
    there = await store.open();
    await there.revocations.epoch(true);
    feed = await here.revocations.feed();
    await eventually(() => feed.latest());
    standing = createStanding(feed, LOOK);
    const { clock } = store;
    const passwords = createPasswords(new CountedArgon2());
    people = {
      stores: there,
      clock,
      longestLife: 600,
      passwords,
      random: systemRandom,
      realms: [],
    };
  });
  afterAll(async () => {
    await feed[Symbol.asyncDispose]();
    for (const one of [here, there, store]) {
      await ('end' in one ? one.end() : one[Symbol.asyncDispose]());
    }
  });

  /** Resolves to the reason of the end, after `change` and not before. `until`: when the watch ends. */
  async function endedBy(
    principal: Principal,
    grounds: readonly Grounds[],
    ending: () => unknown,
    until: 'revoked' | 'expired' = 'revoked',
  ): Promise<string | undefined> {
    let reason: string | undefined;
    const stayed = { other: true, answer: true };
    const mark = standing.mark();
    const who = { passed: { principal, grounds }, mark };
    const other = {
      passed: { principal: personPrincipal('r', { id: fresh(), name: 'else' }) },
      mark,
    };
    const stops = [
      standing.watch(who, 'expired', (why) => (reason = why)),
      standing.watch(who, 'revoked', () => (stayed.answer = false)),
      standing.watch(other, 'expired', () => (stayed.other = false)),
    ];
    expect(await standing.holds(who)).toBe(true);
    expect(reason).toBeUndefined();
    await ending();
    await eventually(() => expect(reason).toBeDefined());
    if (until === 'revoked') await eventually(() => expect(stayed.answer).toBe(false));
    else expect(await standing.holds(who)).toBe(true);
    for (const stop of stops) stop();
    expect(stayed).toEqual({ other: true, answer: until === 'expired' });
    if (until === 'revoked') expect(await standing.holds({ ...who })).toBe(false);
    return reason;
  }

  const byPassword = (id: string) => personPrincipal('r', { id, name: 'somebody' });

  const somebody = async () => {
    const name = `p${fresh()
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '')}`;
    return addPerson(people, { name, password: 'correct horse battery' });
  };

  test("a changed password ends the person's open answers", async () => {
    const { id, name } = await somebody();
    const reason = await endedBy(byPassword(id), [], () =>
      setPassword(people, name, 'battery horse correct'),
    );
    expect(reason).toBe('all of the person was ended');
  });

  test("disabling a person ends the person's open answers", async () => {
    const { id, name } = await somebody();
    await endedBy(byPassword(id), [], () => disablePerson(people, name));
  });

  test("ending all access of a person ends the person's open answers", async () => {
    const { id } = await somebody();
    await endedBy(byPassword(id), [], () => endEverything(people, id));
  });

  /** Returns the grounds of a client that a new API key admitted. */
  async function byApiKey(expires: Pick<ApiKeyRecord, 'expires_at'> = {}) {
    const scheme = apiKey({
      realm: 'r',
      field: 'X-API-Key',
      limit: { burst: 10, per: 1 },
      apiKeys: here.apiKeys,
      limits: here.limits,
      attempts: { begin: () => undefined, turn: () => ALONE, failed() {}, succeeded() {} },
      clock: store.clock,
      demo: false,
    });
    const { key, ...kept } = newApiKey(systemRandom);
    const record = { ...kept, application: 'app', realm: 'r', scopes: [], created_at: 0 };
    await there.apiKeys.add({ ...record, ...expires });
    const verdict = await scheme.authenticate(
      { scheme: 'api-key', rest: '' },
      requestOf([['X-API-Key', key]]),
    );
    return { id: kept.id, ...granted(verdict) };
  }

  test('removing an API key, and setting its end to now, ends its open answers', async () => {
    for (const ending of [
      (id: string) => there.apiKeys.remove(id),
      (id: string) => there.apiKeys.expire(id, store.clock.now()),
    ]) {
      const { id, principal, grounds } = await byApiKey();
      const reason = await endedBy(principal, grounds, () => ending(id));
      expect(reason).toBe('the API key is not good any more');
    }
  });

  test('an API key that expires ends no open answer', async () => {
    const { principal, grounds } = await byApiKey({ expires_at: store.clock.now() + 5000 });
    await endedBy(principal, grounds, () => store.passSeconds(10), 'expired');
  });

  test('removing a HOBA key, and logging it out, ends its open answers', async () => {
    for (const ending of [
      (id: string) => there.publicKeys.remove(id),
      (id: string) => there.publicKeys.signOut(id, store.clock.now()),
    ]) {
      const owner = { kind: 'person', id: fresh() } as const;
      const key = { ...somePublicKey(fresh()), scheme: 'HOBA' as const, owner };
      await there.publicKeys.add(key, 10);
      const scheme = hoba({
        realm: 'r',
        maxAge: 0,
        challenges: {} as never,
        signatures: { signer: async () => ({ kind: 'signed', key }) } as never,
        publicKeys: here.publicKeys,
        directory: { find: async (id) => ({ id, name: 'somebody' }) },
        secondFactor: 'off',
        secondFactors: here.secondFactors,
        clock: store.clock,
      });
      const request = { ...requestOf([]), origin: 'https://rs.example', confidential: true };
      const verdict = await scheme.authenticate({ scheme: 'hoba', rest: '' }, request);
      const { principal, grounds } = granted(verdict);
      const reason = await endedBy(principal, grounds, () => ending(key.id));
      expect(reason).toMatch(/^the key of HOBA/);
    }
  });

  test('signing out a session, and ending its grant, ends its open answers; an idle session ends none', async () => {
    const { clock } = store;
    const sessions = createSessions({ artefacts: here.artefacts, clock, random: systemRandom });
    const space = { url: SPACE, realm: 'r', idle: 60 };
    const about = async () => ({ name: 'somebody', groups: [] });
    const scheme = session({ space, sessions, feed, about, secondFactor: 'optional' });
    const elsewhere = createSessions({ artefacts: there.artefacts, clock, random: systemRandom });
    const endings: readonly (readonly [
      (secret: string, grant: string) => unknown,
      'revoked' | 'expired',
    ])[] = [
      [(secret) => elsewhere.remove(secret), 'revoked'],
      [
        (_secret, grant) => there.revocations.revoke('grant', grant, clock.now() + 600_000),
        'revoked',
      ],
      [() => store.passSeconds(120), 'expired'],
    ];
    for (const [ending, until] of endings) {
      const claims = {
        sub: fresh(),
        sub_gen: 0,
        client_id: fresh(),
        client_gen: 0,
        grant_id: fresh(),
        jti: fresh(),
        kid: 'k1',
        epoch: (await there.revocations.epoch(false)) ?? '',
      };
      const secret = await sessions.begin(
        {
          accountId: claims.sub,
          grantId: claims.grant_id,
          space: SPACE,
          claims,
          until: clock.now() + 3_600_000,
        },
        space.idle,
      );
      const cookie = `${cookieName(SPACE, 'session')}=${secret}`;
      const verdict = await scheme.authenticate(
        { scheme: 'session', rest: '' },
        requestOf([['Cookie', cookie]]),
      );
      const { principal, grounds } = granted(verdict);
      await endedBy(principal, grounds, () => ending(secret, claims.grant_id), until);
    }
  });

  test('any revocation of a token ends its open answers, and its expiry ends connections', async () => {
    const { privateKey, publicKey } = GENERATE.ES256();
    const { clock } = store;
    const now = () => Math.floor(clock.now() / 1000);
    const keys = { key: () => publicKey };
    const tokens = createTokenVerifier({ issuer: ISSUER, keys, feed, clock, skew: 5 });
    const until = () => clock.now() + 600_000;
    const grantOf = (jti: string) => `grant ${jti}`;
    const endings: ((jti: string) => unknown)[] = [
      (jti) => there.revocations.revoke('token', jti, until()),
      (jti) => there.revocations.revoke('grant', grantOf(jti), until()),
      (jti) => there.revocations.revoke('key', `key ${jti}`, until()),
      (jti) => there.revocations.raise('client', `client ${jti}`, until()),
      (jti) => there.revocations.raise('person', `person ${jti}`, until()),
      () => store.passSeconds(60),
    ];
    for (const ending of endings) {
      const ends = ending === endings.at(-1) ? 'expired' : 'revoked';
      const jti = fresh();
      const claims = {
        iss: ISSUER,
        aud: SPACE,
        sub: `person ${jti}`,
        sub_gen: 0,
        client_id: `client ${jti}`,
        client_gen: 0,
        grant_id: grantOf(jti),
        jti,
        iat: now(),
        exp: now() + 59,
        scope: '',
        epoch: await there.revocations.epoch(false),
      };
      const kid = `key ${jti}`;
      const token = signJws({ alg: 'ES256', typ: 'at+jwt', kid }, claims, privateKey);
      const verdict = await tokens.verify(token, [SPACE]);
      if (verdict.kind !== 'verified') throw new Error(JSON.stringify(verdict));
      await endedBy(verdict.principal, [verdict.grounds], () => ending(jti), ends);
    }
  });
});

function granted(verdict: Verdict): { principal: Principal; grounds: readonly Grounds[] } {
  if (verdict.kind !== 'granted' || !verdict.grounds) throw new Error(JSON.stringify(verdict));
  return { principal: verdict.principal, grounds: [verdict.grounds] };
}

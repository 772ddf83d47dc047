import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { createPasswords } from '#shared/people/password.ts';
import { CountedArgon2 } from '#shared/people/directory.fixture.ts';
import { addPerson, disablePerson, type PeopleStore, setPassword } from '#shared/people/people.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { fresh } from '#shared/stores/contract/samples.ts';
import type { StoreUnderTest } from '#shared/stores/contract/store-under-test.ts';
import { redisConfig, redisUnderTest } from '#shared/stores/redis/under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { RevocationFeed } from '#shared/stores/revocations.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { startRedis } from '../../e2e/parts/redis.ts';
import { GENERATE, signJws } from '#shared/jose/jws.fixture.ts';
import { apiKey } from './schemes/api-key/api-key.ts';
import { requestOf } from './auth.fixture.ts';
import { personPrincipal } from './person.ts';
import type { Grounds, Principal } from './scheme.ts';
import { createStanding, type Standing } from './standing.ts';
import { createTokenVerifier } from './token-verifier.ts';

/** Milliseconds from look to look, so that no test waits for one. */
const LOOK = 20;
const ISSUER = 'https://as.example';
const SPACE = 'https://rs.example/a/';

describe.each([
  ['SQLite', (): Promise<StoreUnderTest> => sqliteUnderTest()],
  [
    'Redis',
    async (): Promise<StoreUnderTest> => {
      const redis = await startRedis();
      return redisUnderTest(redisConfig({ urls: [redis.url] }), [redis], redis);
    },
  ],
])('what another process ends, on %s', (_, open) => {
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

  /** Resolves to the reason once they were ended by it, and not before. */
  async function endedBy(
    principal: Principal,
    grounds: readonly Grounds[],
    ending: () => unknown,
  ): Promise<string | undefined> {
    let reason: string | undefined;
    let stayed = true;
    const mark = await standing.mark();
    standing.watch({ principal, grounds }, mark, (why) => (reason = why));
    const other = personPrincipal('r', { id: fresh(), name: 'else' });
    const stop = standing.watch({ principal: other }, mark, () => (stayed = false));
    await standing.mark();
    expect(reason).toBeUndefined();
    await ending();
    await eventually(() => expect(reason).toBeDefined());
    stop();
    expect(stayed).toBe(true);
    return reason;
  }

  const byPassword = (id: string) => personPrincipal('r', { id, name: 'somebody' });

  const somebody = async () => {
    const name = `p${fresh()
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '')}`;
    return addPerson(people, { name, password: 'correct horse battery' });
  };

  test('another password', async () => {
    const { id, name } = await somebody();
    const reason = await endedBy(byPassword(id), [], () =>
      setPassword(people, name, 'battery horse correct'),
    );
    expect(reason).toBe('all of the person was ended');
  });

  test('a person who is disabled', async () => {
    const { id, name } = await somebody();
    await endedBy(byPassword(id), [], () => disablePerson(people, name));
  });

  test('everything of a person', async () => {
    const { id } = await somebody();
    await endedBy(byPassword(id), [], () => endEverything(people, id));
  });

  test('an API key that is removed, and one that is past its time', async () => {
    const scheme = apiKey({
      realm: 'r',
      field: 'X-API-Key',
      limit: { burst: 10, per: 1 },
      apiKeys: here.apiKeys,
      limits: here.limits,
      attempts: { begin: () => undefined, failed() {}, succeeded() {} },
      clock: store.clock,
      demo: false,
    });
    for (const ending of [
      (id: string) => there.apiKeys.remove(id),
      (id: string) => there.apiKeys.expire(id, store.clock.now()),
    ]) {
      const { key, ...kept } = newApiKey(systemRandom);
      const record = { ...kept, application: 'app', realm: 'r', scopes: [], created_at: 0 };
      await there.apiKeys.add(record);
      const verdict = await scheme.authenticate(
        { scheme: 'api-key', rest: '' },
        requestOf([['X-API-Key', key]]),
      );
      if (verdict.kind !== 'granted' || !verdict.grounds) throw new Error(JSON.stringify(verdict));
      const reason = await endedBy(verdict.principal, [verdict.grounds], () => ending(kept.id));
      expect(reason).toBe('the API key is not good any more');
    }
  });

  test('a token that is revoked, by whatever it is, and one that ends', async () => {
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
      await endedBy(verdict.principal, [verdict.grounds], () => ending(jti));
    }
  });
});

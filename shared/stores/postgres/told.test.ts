import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import { startRelay } from '../../../e2e/parts/relay.ts';
import { eventually } from '../contract/eventually.ts';
import { listening } from '../contract/cache/invalidations.ts';
import { FAR, someInvalidation } from '../contract/samples.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { LOSSES } from '../redis/losses.fixture.ts';
import { redisConfig } from '../redis/under-test.ts';
import { openPostgres } from './open.ts';
import { revokedOf, someRecordOn } from './told.fixture.ts';
import { changeRedis } from './told.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const someRecord = () => someRecordOn(postgres);

describe.each(LOSSES)('Redis was %s', (_, start) => {
  test('each view has all acknowledged revocations, in a process that follows and in a process that starts at that moment', async () => {
    await using place = await start();
    const { open } = someRecord();
    await using early = await open(place.url);
    await early.revocations.epoch(true);
    await using follower = await open(place.url);
    await using following = await follower.revocations.feed();
    await early.revocations.revoke('token', 'first', FAR);
    await place.remember();
    await early.revocations.revoke('token', 'second', FAR);
    expect(await revokedOf(follower, following, ['first', 'second'])).toHaveLength(2);

    const url = await place.lose();
    await using late = await open(url);
    await using starting = await late.revocations.feed();
    expect(await revokedOf(late, starting, ['first', 'second'])).toHaveLength(2);
    await eventually(() => late.revocations.revoke('token', 'third', FAR));
    expect(await revokedOf(late, starting, ['first', 'second', 'third'])).toHaveLength(3);
    // The follower that still has the address of the former server never forgets a revocation.
    for (let turn = 0; turn < 20; turn += 1) {
      const seen = await revokedOf(follower, following, ['first', 'second', 'third']).catch(
        (error: unknown) => error,
      );
      if (!(seen instanceof StoreUnavailable)) expect(seen).toHaveLength(3);
    }
  });

  test('caches get each acknowledged invalidation, and drop no other answers', async () => {
    await using place = await start();
    const { open } = someRecord();
    await using early = await open(place.url);
    await early.revocations.epoch(true);
    await early.invalidations.add([someInvalidation('/first')]);
    await place.remember();
    await early.invalidations.add([someInvalidation('/second')]);
    const url = await place.lose();
    await using late = await open(url);
    await using listener = await listening(late);
    await eventually(() => late.invalidations.add([someInvalidation('/third')]));
    const heard = await listener.hear();
    expect(heard.map((one) => (one === 'lost' ? one : one.value))).toEqual(['/third']);
  });
});

test('a revocation that cannot be written to Redis gets 503, and the next process that writes adds it', async () => {
  await using redis = await startRedis();
  const { open } = someRecord();
  await using stores = await open(redis.url);
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  expect(await revokedOf(stores, feed, ['lost'])).toEqual([]);
  await redis.kill();
  await expect(stores.revocations.revoke('token', 'lost', FAR)).rejects.toThrow(StoreUnavailable);
  await expect(feed.latest()).rejects.toThrow(StoreUnavailable);
  await redis.start();
  await eventually(async () => expect(await revokedOf(stores, feed, ['lost'])).toEqual(['lost']));
});

test('no verdict and no token is refused while the feed in Redis is rebuilt', async () => {
  await using redis = await startRedis();
  const { open, settings } = someRecord();
  await using stores = await open(redis.url);
  const epoch = await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const ended = new AbortController();
  const repeat = async (work: () => unknown) => {
    while (!ended.signal.aborted) {
      await work();
      await setImmediate();
    }
  };
  const running = Promise.all([
    repeat(() => stores.revocations.revoke('token', randomId(systemRandom), FAR)),
    repeat(async () => expect((await feed.latest()).epoch).toBe(epoch)),
    repeat(() => expect(feed.current().epoch).toBe(epoch)),
  ]).finally(() => ended.abort());
  running.catch(() => {});
  const hash = `{${settings(redis.url).redis?.prefix}}:told`;
  const memories = new Set<string>();
  while (memories.size < 10 && !ended.signal.aborted) {
    await redis.cli('DEL', hash);
    await feed.latest();
    memories.add(await redis.cli('HGET', hash, 'memory'));
  }
  ended.abort();
  await running;
});

test('verdicts need only Redis, so they go on while PostgreSQL does not answer', async () => {
  await using own = await startPostgres();
  await using redis = await startRedis();
  await using stores = await openPostgres(
    {
      kind: 'postgres',
      urls: [own.url],
      schema: 'countersign',
      connections: 10,
      deadline: 1,
      redis: redisConfig({ urls: [redis.url] }),
    },
    { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 },
  );
  await stores.revocations.epoch(true);
  await stores.revocations.revoke('token', 'revoked', FAR);
  await using feed = await stores.revocations.feed();
  await feed.latest();
  await own.hang();
  try {
    await until(() =>
      stores.ping().then(
        () => false,
        () => true,
      ),
    );
    const view = await feed.latest();
    expect(view.epoch).toBeDefined();
    expect(() => feed.current()).not.toThrow();
    await expect(stores.revocations.revoke('token', 'other', FAR)).rejects.toThrow(
      StoreUnavailable,
    );
  } finally {
    await own.wake();
  }
});

test('a Redis that was replaced by another is never written or trusted again, however often a process opens it', async () => {
  await using former = await startRedis();
  await using next = await startRedis();
  const { open } = someRecord();
  await using behind = await open(former.url);
  await behind.revocations.epoch(true);
  await using feed = await behind.revocations.feed();
  await behind.revocations.revoke('token', 'before', FAR);
  await using ahead = await open(next.url);
  await using follower = await ahead.revocations.feed();
  await eventually(() => ahead.revocations.revoke('token', 'after', FAR));
  const [late, others] = await Promise.allSettled([
    revokedOf(behind, feed, ['after']),
    revokedOf(ahead, follower, ['after']),
  ]);
  expect(late).not.toMatchObject({ value: [] });
  expect(others).toMatchObject({ value: ['after'] });
  expect(await revokedOf(ahead, follower, ['before', 'after'])).toHaveLength(2);

  await expect(behind.revocations.revoke('token', 'late', FAR)).rejects.toThrow(StoreUnavailable);
  // A second after the replacement at the latest.
  await eventually(() => expect(feed.latest()).rejects.toThrow(StoreUnavailable));
  await expect(open(former.url)).rejects.toThrow('has taken the place of this Redis');
  // The revocation got 503, but it is in PostgreSQL: followers get it together with the next revocation.
  await ahead.revocations.revoke('token', 'next', FAR);
  expect(await revokedOf(ahead, follower, ['late', 'next'])).toHaveLength(2);
});

test('a process that was suspended for a second sees the revocations in the new Redis, or trusts nothing', async () => {
  await using former = await startRedis();
  await using next = await startRedis();
  const { open } = someRecord();
  // A feed of invalidations queries only on request, so it behaves like a process that was suspended.
  await using still = await open(former.url);
  await still.revocations.epoch(true);
  await using listener = await listening(still);
  await still.invalidations.add([someInvalidation('before')]);
  expect(await listener.hear()).toHaveLength(1);
  await using ahead = await open(next.url);
  await eventually(() => ahead.invalidations.add([someInvalidation('after')]));
  await expect(listener.hear()).rejects.toThrow('has taken the place of this Redis');
});

test('a revocation that is acknowledged while a process changes to another Redis is in its next verdict', async () => {
  await using former = await startRedis();
  await using next = await startRedis();
  await using way = await startRelay(former.port);
  const { open, sql } = someRecord();
  await using revoking = await open(former.url);
  await revoking.revocations.epoch(true);
  await using follower = await open(way.url.replace('http', 'redis'));
  await using feed = await follower.revocations.feed();
  await revoking.revocations.revoke('token', 'before', FAR);
  expect(await revokedOf(follower, feed, ['before'])).toHaveLength(1);
  // The process that changes to the other Redis has read the number of the latest row, and its commit takes long.
  await sql(`
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(0.8); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON redis_run
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`);
  way.lead(next.port);
  const committing = `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
  await until(async () => (await postgres.sql(committing)) === '1');
  const between = revoking.revocations.revoke('token', 'between', FAR).then(
    () => ['before', 'between'],
    (error: unknown) => {
      expect(error).toBeInstanceOf(StoreUnavailable);
      return ['before'];
    },
  );
  const acknowledged = await between;
  const seen = await eventually(() => revokedOf(follower, feed, ['before', 'between']));
  expect(seen).toEqual(expect.arrayContaining(acknowledged));
});

test('two databases cannot use the same prefix in Redis', async () => {
  await using redis = await startRedis();
  await using one = await someRecord().open(redis.url, 'shared');
  await one.revocations.epoch(true);
  await expect(someRecord().open(redis.url, 'shared')).rejects.toThrow(
    '{shared}:told in Redis belongs to another store',
  );
});

test('all servers of a database use Redis, or none does; this can change only while no server runs', async () => {
  await using redis = await startRedis();
  const { open, settings } = someRecord();
  {
    await using one = await open(redis.url);
    const epoch = await one.revocations.epoch(true);
    await one.revocations.revoke('token', 'before', FAR);
    expect(epoch).toBeDefined();
    await expect(open()).rejects.toThrow('store.redis is missing');
    await expect(changeRedis(settings())).rejects.toThrow('open elsewhere');
  }
  await eventually(() => changeRedis(settings()));
  {
    await using alone = await open();
    await alone.revocations.revoke('token', 'between', FAR);
    await expect(open(redis.url)).rejects.toThrow('store.redis is set');
  }
  await eventually(() => changeRedis(settings(redis.url)));
  await using again = await open(redis.url);
  await using feed = await again.revocations.feed();
  expect(await revokedOf(again, feed, ['before', 'between'])).toHaveLength(2);
});

test('a server with another prefix in Redis than the others does not start; the prefix can change only while no server runs', async () => {
  await using redis = await startRedis();
  const { open, settings } = someRecord();
  {
    await using one = await open(redis.url, 'right');
    await one.revocations.epoch(true);
    await expect(open(redis.url, 'rihgt')).rejects.toThrow(
      'the servers of this store are told by Redis under right, and this one would look under rihgt',
    );
    await expect(open(`${redis.url}/1`, 'right')).rejects.toThrow('under right/1');
    await using other = await open(`${redis.url}/0`, 'right');
    await using feed = await other.revocations.feed();
    await one.revocations.revoke('token', 'before', FAR);
    expect(await revokedOf(other, feed, ['before'])).toHaveLength(1);
  }
  await eventually(() => changeRedis(settings(redis.url, 'another')));
  await expect(open(redis.url, 'right')).rejects.toThrow('under another');
  await using again = await open(redis.url, 'another');
  await using feed = await again.revocations.feed();
  expect(await revokedOf(again, feed, ['before'])).toHaveLength(1);
});

test('a database without an epoch is accepted by its Redis, and starts a new feed there', async () => {
  await using redis = await startRedis();
  const { open, sql } = someRecord();
  {
    await using early = await open(redis.url);
    for (const n of [1, 2]) await early.revocations.revoke('token', `t${n}`, FAR);
  }
  await sql(
    `DELETE FROM revocation WHERE seq > 1; UPDATE numbers SET last = 1 WHERE name = 'revocation'`,
  );
  await using stores = await open(redis.url);
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  await stores.revocations.revoke('token', 'later', FAR);
  expect(await revokedOf(stores, feed, ['later'])).toHaveLength(1);
});

test('no process trusts a database with fewer revocations than its Redis until the database gets a new epoch', async () => {
  await using redis = await startRedis();
  const { open, sql } = someRecord();
  await using stores = await open(redis.url);
  await stores.revocations.epoch(true);
  for (const n of [1, 2, 3]) await stores.revocations.revoke('token', `t${n}`, FAR);
  await sql(
    `DELETE FROM revocation WHERE seq > 1; UPDATE numbers SET last = 1 WHERE name = 'revocation'`,
  );
  await expect(stores.revocations.revoke('token', 'later', FAR)).rejects.toThrow(StoreUnavailable);
  await expect(open(redis.url)).rejects.toThrow('restored to an earlier point');
  await sql(`UPDATE epoch SET id = 'another'`);
  await using again = await open(redis.url);
  await using feed = await again.revocations.feed();
  expect((await feed.latest()).epoch).toBe('another');
});

test('Redis keeps the last thousand rows; a process that is further behind reads PostgreSQL', async () => {
  await using redis = await startRedis();
  const { open } = someRecord();
  await using stores = await open(redis.url);
  await stores.revocations.epoch(true);
  await using other = await open(redis.url);
  await using feed = await other.revocations.feed();
  await stores.revocations.revoke('token', 'first', FAR);
  const tokens = Array.from({ length: 2_500 }, () => randomId(systemRandom));
  await stores.together(async ({ revocations }) => {
    for (const token of tokens) await revocations.revoke('token', token, FAR);
  });
  expect(await revokedOf(other, feed, tokens)).toHaveLength(2_500);
  const stream = await redis.cli('KEYS', '*told:revocation');
  expect(await redis.cli('XLEN', stream)).toBe('1000');
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { type Redis, startRedis } from '../../../e2e/parts/redis.ts';
import { eventually } from '../contract/eventually.ts';
import { FAR } from '../contract/samples.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { revokedOf, someRecordOn } from './told.fixture.ts';

const parts = new AsyncDisposableStack();
let postgres: Postgres;
beforeAll(async () => {
  postgres = parts.use(await startPostgres());
});
afterAll(() => parts.disposeAsync());

describe('a Redis that takes no writes', () => {
  /** Requires a replica that does not exist: Redis refuses writes, and still answers reads. */
  const refuse = (redis: Redis, refuses: boolean) =>
    redis.cli('CONFIG', 'SET', 'min-replicas-to-write', refuses ? '1' : '0');

  test('a revocation that cannot be written to Redis gets 503; other processes refuse the token within a second, and none acknowledges it before Redis has it', async () => {
    await using redis = await startRedis();
    const { open } = someRecordOn(postgres);
    await using stores = await open(redis.url);
    await stores.revocations.epoch(true);
    await using other = await open(redis.url);
    await using feed = await other.revocations.feed();
    expect(await revokedOf(other, feed, ['a'])).toEqual([]);
    await refuse(redis, true);
    await expect(stores.revocations.revoke('token', 'a', FAR)).rejects.toThrow(StoreUnavailable);
    const told = async (field: string) =>
      redis.cli('HGET', await redis.cli('KEYS', '*:told'), field);
    expect(await told('revocation')).toBe('0');
    await eventually(async () => expect(await revokedOf(other, feed, ['a'])).toEqual(['a']));
    // A process that starts meanwhile knows it from the first verdict on, and lets all others go on.
    const memory = await told('memory');
    await using late = await open(redis.url);
    await using starting = await late.revocations.feed();
    expect(await revokedOf(late, starting, ['a'])).toEqual(['a']);
    expect(await told('memory')).toBe(memory);
    expect(() => feed.current()).not.toThrow();
    // A second request for the same revocation gets 503, too.
    await expect(other.revocations.untilKnown()).rejects.toThrow(StoreUnavailable);
    await refuse(redis, false);
    await other.revocations.untilKnown();
    expect(await told('revocation')).toBe('1');
  });

  test('revocations are written to a Redis whose memory is full, which keeps only the last rows', async () => {
    await using redis = await startRedis();
    const { open } = someRecordOn(postgres);
    await using stores = await open(redis.url);
    await stores.revocations.epoch(true);
    await using other = await open(redis.url);
    await using feed = await other.revocations.feed();
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1');
    expect(await redis.cli('SET', 'x', 'x')).toContain('OOM');
    await stores.revocations.revoke('token', 'a', FAR);
    await stores.revocations.revoke('token', 'b', FAR);
    expect(await revokedOf(other, feed, ['a', 'b'])).toEqual(['a', 'b']);
  });
});

test('a replica is refused with its name, and is never used in place of the master', async () => {
  await using master = await startRedis();
  await using replica = await startRedis({ replicaOf: master.port });
  const { open } = someRecordOn(postgres);
  await using stores = await open(master.url);
  await stores.revocations.epoch(true);
  await stores.revocations.revoke('token', 'a', FAR);
  await until(async () => (await master.cli('WAIT', '1', '1000')) === '1');
  await expect(open(replica.url)).rejects.toThrow('this Redis is a replica: name the master');
  await stores.revocations.revoke('token', 'b', FAR);
});

test('a server that is configured with the Redis of another store does not start, and the other servers go on', async () => {
  await using own = await startRedis();
  await using others = await startRedis();
  const { open } = someRecordOn(postgres);
  await using stores = await open(own.url, 'same');
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  await using _ = await someRecordOn(postgres).open(others.url, 'same');
  await expect(open(others.url, 'same')).rejects.toThrow('belongs to another store');
  await stores.revocations.revoke('token', 'a', FAR);
  expect(await revokedOf(stores, feed, ['a'])).toEqual(['a']);
});

test('the last thousand runs of Redis are remembered, and none of them is trusted again', async () => {
  await using redis = await startRedis();
  const { open, sql } = someRecordOn(postgres);
  await using _ = await open(redis.url);
  const former = await sql('SELECT run FROM redis_run');
  await sql(`INSERT INTO redis_run (run) SELECT 'run ' || n FROM generate_series(1, 1500) AS n`);
  await using next = await startRedis();
  await using stores = await open(next.url);
  await stores.ping();
  expect(await sql('SELECT count(*) FROM redis_run')).toBe('1000');
  expect(await sql(`SELECT count(*) FROM redis_run WHERE run = '${former}'`)).toBe('0');
  await using last = await startRedis();
  await using others = await open(last.url);
  await others.ping();
  await expect(open(next.url)).rejects.toThrow('has taken the place of this Redis');
});

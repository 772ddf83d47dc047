import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { startCluster } from '../../../e2e/parts/redis-cluster.ts';
import { startSentinels } from '../../../e2e/parts/redis-sentinel.ts';
import { type Redis, startRedis } from '../../../e2e/parts/redis.ts';
import { eventually } from '../contract/eventually.ts';
import { redisMemory } from './authentication/memory.ts';
import { besideParts } from './open.ts';
import { LOSSES } from './losses.fixture.ts';
import { connectPatiently, redisConfig } from './under-test.ts';

const SKEW = 5;

/** A process that works with a Redis. */
async function processOn(config: ReturnType<typeof redisConfig>, clock = new ManualClock()) {
  const redis = await connectPatiently(config);
  const options = { prefix: config.prefix, clock, random: systemRandom, skew: SKEW, restored: 0 };
  const parts = besideParts(redis, options);
  return {
    ...parts,
    clock,
    look: redisMemory(redis, options).look,
    spend: (jti: string, made: number) => parts.proofs.spend('dpop', jti, { made, seconds: 600 }),
    use: (nonce: string, made: number) =>
      parts.useCounts.use('digest', nonce, 1, { made, seconds: 600 }),
    [Symbol.dispose]: () => redis[Symbol.dispose](),
  };
}

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

describe.each(LOSSES)('Redis was %s', (_, start) => {
  test('proofs that may have been used are refused, also ten at the same time; newer proofs are accepted once', async () => {
    await using place = await start();
    const { clock, ...before } = await processOn(redisConfig({ urls: [place.url] }));
    await before.look(true);
    const early = clock.now();
    const waiting = await before.sessions.put('a leg', 600);
    const leg = await before.sessions.put('another', 600);
    await place.remember();
    expect(await before.spend('jti', early)).toBe('first');
    expect(await before.use('nonce', early)).toBe('first');
    expect(await before.sessions.take(leg)).toBe('another');
    before[Symbol.dispose]();
    const url = await place.lose();

    using after = await processOn(redisConfig({ urls: [url] }), clock);
    await after.look();
    expect(await after.sessions.take(leg)).toBeUndefined();
    expect(await after.sessions.get(waiting)).toBeUndefined();
    // The clock of another process may be ahead, so that its proofs look newer than they are.
    for (const attempt of [after.spend, after.use]) {
      await expect(attempt('x', early)).rejects.toThrow(StoreUnavailable);
      await expect(attempt('x', clock.now())).rejects.toThrow(StoreUnavailable);
    }
    clock.advance(SKEW + 1);
    for (const [attempt, key] of [
      [after.spend, 'jti'],
      [after.use, 'nonce'],
    ] as const) {
      const replays = Array.from({ length: 10 }, () => attempt(key, early));
      expect(new Set(await Promise.all(replays))).toEqual(new Set(['forgotten']));
      expect(await attempt('never used', early)).toBe('forgotten');
      const all = await Promise.all(Array.from({ length: 10 }, () => attempt('new', clock.now())));
      expect(all.filter((use) => use === 'first')).toHaveLength(1);
      expect(all.filter((use) => use === 'used')).toHaveLength(9);
    }
    const next = await after.sessions.put('a leg', 600);
    expect(await after.sessions.take(next)).toBe('a leg');
  });
});

describe('one server', () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = parts.use(await startRedis());
  });
  const config = () => redisConfig({ urls: [redis.url] });

  test('a Redis that was a replica for a while may have lost proofs, even if the connection stayed open', async () => {
    const { clock, ...process } = await processOn(config());
    using _ = process;
    await process.look(true);
    expect(await process.spend('a', clock.now())).toBe('first');
    const id = await process.sessions.put('a leg', 600);
    await redis.cli('REPLICAOF', '127.0.0.1', '1');
    await redis.cli('REPLICAOF', 'NO', 'ONE');
    await expect(process.spend('a', clock.now())).rejects.toThrow(StoreUnavailable);
    expect(await eventually(() => process.sessions.take(id))).toBeUndefined();
  });

  test('a process that restarts does not start a new memory, so used proofs stay refused', async () => {
    await redis.cli('FLUSHALL');
    const { clock, ...first } = await processOn(config());
    await first.look(true);
    expect(await first.spend('a', clock.now())).toBe('first');
    first[Symbol.dispose]();
    using second = await processOn(config(), clock);
    expect(await second.spend('a', clock.now())).toBe('used');
    expect(await second.spend('b', 0)).toBe('first');
  });

  test('if the clock was ahead when the memory began, new proofs are accepted once another process has asked', async () => {
    await redis.cli('FLUSHALL');
    const right = new ManualClock();
    using wrong = await processOn(config(), new ManualClock(right.now() + 86_400_000));
    using other = await processOn(config(), right);
    await expect(wrong.spend('a', wrong.clock.now())).rejects.toThrow(StoreUnavailable);
    await expect(other.spend('a', right.now())).rejects.toThrow(StoreUnavailable);
    right.advance(SKEW + 1);
    expect(await other.spend('a', right.now())).toBe('first');
  });

  test('a memory that has begun stays, even if a process believes that the store is new', async () => {
    await redis.cli('FLUSHALL');
    using process = await processOn(config());
    await process.look();
    await process.look(true);
    process.clock.advance(SKEW + 1);
    expect(await process.spend('a', 0)).toBe('forgotten');
  });

  test('the key of a used proof is a digest, so the proof cannot be read', async () => {
    await redis.cli('FLUSHALL');
    using process = await processOn(config());
    await process.look(true);
    await process.spend('a-secret', 0);
    await process.use('a-secret', 0);
    const keys = (await redis.cli('KEYS', '*')).split('\n');
    expect(keys).toHaveLength(3);
    for (const key of keys) {
      expect(key).toMatch(/^\{test:once\}:(?:memory|dpop:[\w-]{43}|count:digest:[\w-]{43})$/);
    }
  });
});

test('Sentinel: a replica without the last writes becomes the master', async () => {
  const set = parts.use(await startSentinels());
  const { clock, ...process } = await processOn(redisConfig({ mode: 'sentinel', urls: set.urls }));
  using _ = process;
  await process.look(true);
  const early = clock.now();
  const [, replica, last] = set.servers;
  if (replica === undefined || last === undefined) throw new Error('no replicas');
  await eventually(async () => expect(await replica.cli('KEYS', '*memory')).not.toBe(''));
  await replica.cli('REPLICAOF', 'NO', 'ONE');
  expect(await process.spend('a', early)).toBe('first');
  await last.cli('REPLICAOF', '127.0.0.1', String(replica.port));
  await set.name(replica);
  await eventually(() => expect(process.spend('a', early)).rejects.toThrow(/just begun/));
  clock.advance(SKEW + 1);
  expect(await process.spend('a', early)).toBe('forgotten');
  expect(await process.spend('a', clock.now())).toBe('first');
});

test('Cluster: only the master that has the used proofs was emptied', async () => {
  const cluster = parts.use(await startCluster());
  const { clock, ...process } = await processOn(
    redisConfig({ mode: 'cluster', urls: cluster.urls }),
  );
  using _ = process;
  await process.look(true);
  const early = clock.now();
  const id = await process.sessions.put('a leg', 600, 'an id of another master');
  expect(await process.use('a', early)).toBe('first');
  await (await cluster.ownerOf('{test:once}')).cli('FLUSHALL');
  expect(await process.sessions.get(id)).toBe('a leg');
  await expect(process.use('a', early)).rejects.toThrow(StoreUnavailable);
  clock.advance(SKEW + 1);
  expect(await process.use('a', early)).toBe('forgotten');
  expect(await process.use('b', clock.now())).toBe('first');
});

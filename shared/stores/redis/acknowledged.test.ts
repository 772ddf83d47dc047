import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { until } from '../../../e2e/parts/process.ts';
import { type Redis, startRedis } from '../../../e2e/parts/redis.ts';
import { onceFor } from '../contract/samples.ts';
import { redisMemory } from './authentication/memory.ts';
import { besideParts, type BesideParts } from './open.ts';
import { connectPatiently, redisConfig } from './under-test.ts';

const parts = new AsyncDisposableStack();
let replica: Redis;
let beside: BesideParts;
let look: () => Promise<void>;

beforeAll(async () => {
  const master = parts.use(await startRedis({ settings: ['min-replicas-to-write 1'] }));
  replica = parts.use(await startRedis({ replicaOf: master.port }));
  await until(async () => (await master.cli('WAIT', '1', '1000')) === '1');
  const config = redisConfig({ urls: [master.url], replicas: 1 });
  const redis = parts.use(await connectPatiently(config, 1000));
  const options = {
    prefix: 'test',
    clock: new ManualClock(),
    random: systemRandom,
    skew: 5,
    restored: 0,
  };
  beside = besideParts(redis, options);
  ({ look } = redisMemory(redis, options));
});
afterAll(() => parts.disposeAsync());

/** Resolves once the replica has all earlier writes. */
const whole = () => until(async () => beside.sessions.put('x', 60, 'taken').then(Boolean));

/** Makes all calls at once while the replica does not answer, and returns their outcomes. */
async function alone(all: Readonly<Record<string, () => unknown>>) {
  replica.hang();
  try {
    const outcomes = Object.entries(all).map(async ([name, one]) => {
      const outcome = await Promise.resolve(one()).then(
        () => 'done',
        (error: unknown) => (error instanceof StoreUnavailable ? 'unavailable' : String(error)),
      );
      return [name, outcome];
    });
    return Object.fromEntries(await Promise.all(outcomes));
  } finally {
    replica.wake();
    await whole();
  }
}

test('a use, a session and a stored value are acknowledged once the replica has them; reports and limits do not wait for it', async () => {
  await whole();
  expect(
    await alone({
      look,
      spend: () => beside.proofs.spend('dpop', 'x', onceFor(60)),
      use: () => beside.useCounts.use('digest', 'x', 1, onceFor(60)),
      put: () => beside.sessions.put('x', 60),
      take: () => beside.sessions.take('taken'),
      keep: () => beside.kept.put('alice', 'x', { seconds: 60, most: 1 }),
      get: () => beside.sessions.get('taken'),
      report: () => beside.cacheReports.put('x', 'x'),
      limit: () => beside.limits.spend('sign-in-name', 'x', { burst: 1, per: 60 }),
    }),
  ).toEqual({
    look: 'unavailable',
    spend: 'unavailable',
    use: 'unavailable',
    put: 'unavailable',
    take: 'unavailable',
    keep: 'unavailable',
    get: 'done',
    report: 'done',
    limit: 'done',
  });
  // The use was not acknowledged, but it is stored.
  expect(await beside.proofs.spend('dpop', 'x', onceFor(60))).toBe('used');
});

import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { startRedis } from '../../../../e2e/parts/redis.ts';
import { openPatiently, redisConfig } from '../under-test.ts';

test('no key tells which of two tokens was spent first: times are whole seconds, rounded up', async () => {
  await using redis = await startRedis();
  const clock = new ManualClock();
  await using stores = await openPatiently(redisConfig({ urls: [redis.url] }), clock);
  // The server's own clock counts, whatever ours says.
  const before = Date.now();
  for (const milliseconds of [600_000, 600_000.5, 600_123, 600_999]) {
    expect(await stores.spentTokens.spend(systemRandom(66), clock.now() + milliseconds)).toBe(true);
  }
  const after = Date.now();
  const keys = (await redis.cli('KEYS', '*:spent:*')).split('\n');
  expect(keys).toHaveLength(4);
  for (const key of keys) {
    const ends = Number(await redis.cli('PEXPIRETIME', key));
    expect(ends % 1000).toBe(0);
    expect(ends).toBeGreaterThanOrEqual(before + 600_000);
    expect(ends).toBeLessThan(after + 602_000);
  }
});

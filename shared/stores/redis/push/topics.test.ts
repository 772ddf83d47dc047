import { expect, test } from '@jest/globals';
import { ManualClock, systemClock } from '#shared/base/clock.ts';
import { startRedis } from '../../../../e2e/parts/redis.ts';
import { someSubscription } from '../../contract/push/samples.ts';
import { openPatiently, redisConfig } from '../under-test.ts';

const LIMITS = { messages: 100, receipts: 100 };
const DAY = 86_400_000;

test('topics of messages that have expired do not pile up beside one that lives for long', async () => {
  await using redis = await startRedis();
  const clock = new ManualClock(systemClock.now());
  await using stores = await openPatiently(redisConfig({ urls: [redis.url] }), clock);
  const { push } = stores;
  const { id: subscription, ...rest } = someSubscription();
  await push.subscribe({ id: subscription, ...rest }, 1);
  /** Posts a message, and lets its time pass. */
  const posted = async (topic: string, life: number) => {
    const now = Math.floor(clock.now());
    const message = {
      id: topic,
      subscription,
      urgency: 'normal',
      topic,
      body: Buffer.of(1),
    } as const;
    const times = { posted_at: now, until: now + life };
    expect(await push.post({ ...message, ...times }, LIMITS)).toBe('added');
  };
  await posted('long', 28 * DAY);
  for (let n = 0; n < 450; n += 1) {
    await posted(`short-${n}`, 1000);
    clock.advance(2);
  }
  const [topics = ''] = (await redis.cli('KEYS', '*:push:topics:*')).split('\n');
  expect(Number(await redis.cli('HLEN', topics))).toBeLessThanOrEqual(LIMITS.messages + 1);
  expect(await push.messages(subscription, 0, 'very-low', 10)).toMatchObject([{ topic: 'long' }]);
  await posted('long', 28 * DAY);
  expect(await push.messages(subscription, 0, 'very-low', 10)).toHaveLength(1);
});

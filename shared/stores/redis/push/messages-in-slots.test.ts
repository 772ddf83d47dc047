import { setTimeout } from 'node:timers/promises';
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
  const posted = async (topic: string, life: number) => {
    const now = clock.now();
    const message = {
      id: push.beginningOf(subscription) + topic,
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
    await posted(`short-${n}`, 1);
    await setTimeout(2);
  }
  const [topics = ''] = (await redis.cli('KEYS', '*:push:topics:*')).split('\n');
  expect(Number(await redis.cli('HLEN', topics))).toBeLessThanOrEqual(LIMITS.messages + 1);
  expect(await push.messages(subscription, 0, 'very-low', 10)).toMatchObject([{ topic: 'long' }]);
  await posted('long', 28 * DAY);
  expect(await push.messages(subscription, 0, 'very-low', 10)).toHaveLength(1);
});

test('messages live by the clock of Redis: a process whose clock is ahead hides and removes none', async () => {
  await using redis = await startRedis();
  const config = redisConfig({ urls: [redis.url] });
  await using right = await openPatiently(config, new ManualClock(systemClock.now()));
  await using ahead = await openPatiently(config, new ManualClock(systemClock.now() + DAY));
  const { id: subscription, ...rest } = someSubscription();
  await right.push.subscribe({ id: subscription, ...rest }, 1);
  const begins = right.push.beginningOf(subscription);
  const [receipts, first, second] = ['r', 'first', 'second'].map((id) => begins + id) as [
    string,
    string,
    string,
  ];
  const later = systemClock.now() + 60_000;
  await right.push.openReceipts({ id: receipts, subscription, until: later }, 1);
  const times = { posted_at: systemClock.now(), until: later };
  const message = { subscription, urgency: 'normal', body: Buffer.of(1), receipts } as const;
  await right.push.post({ ...message, id: first, ...times }, LIMITS);
  // The other process reckons by its own clock.
  const others = { posted_at: times.posted_at + DAY, until: later + DAY };
  await ahead.push.post({ ...message, id: second, ...others }, LIMITS);
  for (const { push } of [right, ahead]) {
    const found = await push.messages(subscription, 0, 'very-low', 10);
    expect(found.map(({ id }) => id)).toEqual([first, second]);
  }
  expect(await ahead.push.message(first)).toMatchObject({ id: first });
  expect(await ahead.push.acknowledge(first)).toBe(true);
  await ahead.push.unsubscribe(subscription);
  const told = await right.push.receipts(receipts, 0, 10);
  expect(told).toMatchObject([
    { message: first, outcome: 'delivered' },
    { message: second, outcome: 'gone' },
  ]);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { fresh } from '#shared/stores/contract/samples.ts';
import { someSubscription } from '#shared/stores/contract/push/samples.ts';
import type { Push } from '#shared/stores/push/push.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { manySlots } from '../connection/slots.ts';
import { redisPush } from './push.ts';

const LIMITS = { messages: 3, receipts: 100 };

describe('a push service in many slots', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  let one: Push;
  let other: Push;
  beforeAll(async () => {
    place = await interruptedRedis();
    const made = (redis: typeof place.connection) =>
      redisPush(redis, manySlots('test'), systemClock, systemRandom);
    [one, other] = [made(place.connection), made(place.undisturbed)];
  });
  afterAll(() => place[Symbol.asyncDispose]());
  beforeEach(() => place.redis.cli('FLUSHALL'));

  const before = (step: RegExp, work: () => Promise<unknown>) => {
    place.connection.interruptions.push({ before: step, work });
  };
  const stop = () => Promise.reject(new Error('stopped'));

  const subscription = someSubscription({ id: `a${fresh()}`, person: 'alice' });
  const { id } = subscription;
  const elsewhere = someSubscription({ id: `b${fresh()}` });
  const receipts = `b${fresh()}`;
  const message = (topic?: string) => ({
    id: `a${fresh()}`,
    subscription: id,
    urgency: 'normal' as const,
    body: Buffer.of(1),
    posted_at: systemClock.now(),
    until: systemClock.now() + 3_600_000,
    ...(topic !== undefined && { topic }),
  });
  /** A message whose receipt goes to another slot. */
  async function posted(): Promise<string> {
    const { id: posting, ...rest } = message();
    expect(await other.post({ ...rest, id: posting, receipts }, LIMITS)).toBe('added');
    return posting;
  }
  async function subscribed(): Promise<void> {
    for (const each of [subscription, elsewhere]) await other.subscribe(each, 9);
    const until = systemClock.now() + 3_600_000;
    await other.openReceipts({ id: receipts, subscription: elsewhere.id, until }, 9);
  }
  /** Goes through all subscriptions, as a server does now and then. */
  async function swept(push: Push): Promise<void> {
    let cursor: string | undefined;
    do ({ cursor } = await push.someSubscriptions(cursor));
    while (cursor !== undefined);
  }
  const told = async () =>
    (await other.receipts(receipts, 0, 9)).map((each) => [each.message, each.outcome]);

  test('the process is stopped before a subscription is written: it is none, and is made again', async () => {
    before(/^SCRIPT \{test:a\}:push:subscriptions/, stop);
    await expect(one.subscribe(subscription, 1)).rejects.toThrow('stopped');
    expect(await other.subscription(id)).toBeUndefined();
    expect(await other.subscriptionsOf('alice')).toEqual([]);
    expect(await other.subscribe(subscription, 1)).toBe('added');
    expect(await other.subscriptionsOf('alice')).toEqual([subscription]);
  });

  test('the process is stopped before the push resource is written: the person has the subscription, and can end it', async () => {
    before(/^HSET/, stop);
    await expect(one.subscribe(subscription, 1)).rejects.toThrow('stopped');
    expect(await other.subscriptionOf(subscription.push)).toBeUndefined();
    expect(await other.subscriptionsOf('alice')).toEqual([subscription]);
    expect(await other.unsubscribe(id)).toBe(true);
    expect(await other.subscribe(subscription, 1)).toBe('added');
  });

  test.each([
    ['push resource', /^HDEL/],
    ['record', /^SCRIPT \{test:a\}:push:subscriptions/],
    ['place', /^ZREM/],
  ])(
    'the process is stopped before the %s of an ended subscription goes: ended again, nothing of it is left but its place',
    async (_, step) => {
      await other.subscribe(subscription, 9);
      before(step, stop);
      await expect(one.unsubscribe(id)).rejects.toThrow('stopped');
      await other.unsubscribe(id);
      expect(await other.subscriptionsOf('alice')).toEqual([]);
      const left = (await place.redis.cli('KEYS', '*')).split('\n').filter(Boolean);
      expect(left.filter((key) => !/:push:(news|order)$/.test(key))).toEqual([]);
    },
  );

  test.each([
    ['acknowledged', 'delivered', (push: Push, posting: string) => push.acknowledge(posting)],
    ['ended with its subscription', 'gone', (push: Push) => push.unsubscribe(id)],
  ])(
    'the process is stopped after a message was %s: the next look at all subscriptions sends the receipt, once',
    async (_, outcome, end) => {
      await subscribed();
      const posting = await posted();
      before(/^SCRIPT \{test:b\}:push:receipts/, stop);
      await expect(end(one, posting)).rejects.toThrow('stopped');
      expect(await other.message(posting)).toBeUndefined();
      expect(await told()).toEqual([]);
      await Promise.all([swept(one), swept(other)]);
      expect(await told()).toEqual([[posting, outcome]]);
      await other.forgetReceipt(receipts, posting);
      await swept(other);
      expect(await told()).toEqual([]);
      expect(await place.redis.cli('KEYS', '*:concluded')).toBe('');
    },
  );

  test('the process stands still before it sends a receipt: another has sent it, and it does not come again', async () => {
    await subscribed();
    const posting = await posted();
    before(/^SCRIPT \{test:b\}:push:receipts/, async () => {
      await swept(other);
      expect(await told()).toEqual([[posting, 'delivered']]);
      await other.forgetReceipt(receipts, posting);
    });
    expect(await one.acknowledge(posting)).toBe(true);
    expect(await told()).toEqual([]);
  });

  test('the process is stopped before a message is written: its receipt subscription has room for it until it would have expired', async () => {
    await subscribed();
    const lost = { ...message(), receipts };
    before(/^SCRIPT \{test:a\}:push:subscriptions/, stop);
    await expect(one.post(lost, LIMITS)).rejects.toThrow('stopped');
    expect(await other.post({ ...message(), receipts }, { messages: 3, receipts: 1 })).toBe(
      'receipts-full',
    );
    const [expected = ''] = (await place.redis.cli('KEYS', '*:expected:*')).split('\n');
    await place.redis.cli('ZADD', expected, '5', lost.id);
    expect(await other.post({ ...message(), receipts }, { messages: 3, receipts: 1 })).toBe(
      'added',
    );
  });

  test('messages come while a subscription ends: none is left', async () => {
    await subscribed();
    await other.post(message(), LIMITS);
    before(/^SCRIPT \{test:a\}:push:subscriptions/, () => posted());
    const [key = ''] = (await place.redis.cli('KEYS', '*:push:message:*')).split('\n');
    expect(key).not.toBe('');
    expect(await one.unsubscribe(id)).toBe(true);
    expect(await place.redis.cli('KEYS', '*:push:message*')).toBe('');
    expect(await told()).toMatchObject([[expect.any(String), 'gone']]);
  });

  test('another message takes the topic while one comes: one of them is left, and no receipt comes of the other', async () => {
    await subscribed();
    const [first, second, third] = [message('t'), message('t'), message('t')];
    await other.post({ ...first, receipts }, LIMITS);
    before(/^SCRIPT \{test:a\}:push:subscriptions/, () =>
      other.post({ ...second, receipts }, LIMITS),
    );
    expect(await one.post({ ...third, receipts }, LIMITS)).toBe('added');
    expect(await other.messages(id, 0, 'very-low', 9)).toMatchObject([{ id: third.id }]);
    expect(await told()).toEqual([]);
    expect(await other.acknowledge(third.id)).toBe(true);
    expect(await told()).toEqual([[third.id, 'delivered']]);
  });

  test('a subscription that is full of expired messages takes the next one', async () => {
    await subscribed();
    for (let n = 0; n < 3; n += 1) await other.post(message(), LIMITS);
    expect(await other.post(message(), LIMITS)).toBe('full');
    const keys = (await place.redis.cli('KEYS', '*:push:message:*')).split('\n');
    await place.redis.cli('DEL', ...keys);
    expect(await other.post(message(), LIMITS)).toBe('added');
    expect(await other.messages(id, 0, 'very-low', 1)).toHaveLength(1);
  });

  test('messages of one subscription touch no other slot than its own', async () => {
    await other.subscribe(subscription, 9);
    const { position } = await one.news([id]);
    const keysBefore = (await place.redis.cli('KEYS', '*')).split('\n');
    await other.post(message('t'), LIMITS);
    const added = (await place.redis.cli('KEYS', '*')).split('\n');
    const touched = added.filter((key) => !keysBefore.includes(key));
    expect(touched.filter((key) => !key.startsWith('{test:a}:'))).toEqual([]);
    expect(touched.length).toBeGreaterThan(3);
    expect([...(await one.news([id], position)).of]).toEqual([id]);
  });
});

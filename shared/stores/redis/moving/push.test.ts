import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { fresh } from '#shared/stores/contract/samples.ts';
import { someSubscription } from '#shared/stores/contract/push/samples.ts';
import type { Connection } from '../connection/connection.ts';
import { interruptedRedis } from '../connection/interrupted.fixture.ts';
import { LAYOUTS } from '../layout.ts';
import { migrate } from '../migrations/migrate.ts';
import { redisPush } from '../push/push.ts';
import { moveToManySlots } from '../to-many-slots.ts';
import { startedBefore } from '../under-test.ts';

const LIMITS = { messages: 9, receipts: 3 };
const SOON = systemClock.now() + 3_600_000;

describe('subscriptions, messages and receipts move to many slots', () => {
  let place: Awaited<ReturnType<typeof interruptedRedis>>;
  beforeAll(async () => {
    place = await interruptedRedis();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const pushIn = (layout: keyof typeof LAYOUTS) =>
    redisPush(place.undisturbed, LAYOUTS[layout]('test').peopleSlots, systemClock, systemRandom);
  const move = (redis: Connection) =>
    moveToManySlots(redis, 'test', { sure: async () => {}, tell() {}, random: systemRandom });

  /** No id begins as that of its subscription does. */
  const [first, second] = ['a', 'b'].map((beginning) =>
    someSubscription({
      id: beginning + fresh(),
      push: `c${fresh()}`,
      person: 'alice',
      created_at: 5,
    }),
  ) as [ReturnType<typeof someSubscription>, ReturnType<typeof someSubscription>];
  const [near, far, gone] = ['a', 'd', 'e'].map((beginning) => beginning + fresh()) as [
    string,
    string,
    string,
  ];
  const message = (id: string, topic?: string, receipts = far) => ({
    id: id + 'x'.repeat(21),
    subscription: first.id,
    urgency: 'normal' as const,
    body: Buffer.of(0, 255),
    posted_at: 5,
    until: SOON,
    receipts,
    ...(topic !== undefined && { topic }),
  });
  const messages = [message('f'), message('a', 't'), message('g', 'u', near)] as const;

  beforeEach(async () => {
    await place.redis.cli('FLUSHALL');
    await startedBefore(place.redis);
    await migrate(place.undisturbed, 'test');
    const former = pushIn('many');
    for (const each of [first, second]) await former.subscribe(each, 9);
    for (const [id, subscription] of [
      [near, first.id],
      [far, first.id],
      [gone, second.id],
    ] as const) {
      await former.openReceipts({ id, subscription, until: SOON }, 9);
    }
    for (const each of messages) expect(await former.post(each, LIMITS)).toBe('added');
    const last = { ...message('h', undefined, gone), subscription: second.id };
    await former.post(last, LIMITS);
    await former.unsubscribe(second.id);
  });

  async function expectAllMoved(): Promise<void> {
    expect(await place.redis.cli('KEYS', '{test}:push*')).toBe('');
    const now = pushIn('all');
    expect(await now.subscription(first.id)).toEqual(first);
    expect(await now.subscriptionOf(first.push)).toEqual(first);
    expect(await now.subscriptionsOf('alice')).toEqual([first]);
    const next = { ...message('a'), id: `a${fresh()}` };
    expect(await now.post(next, LIMITS)).toBe('added');
    const ids = (await now.messages(first.id, 0, 'very-low', 9)).map(({ id }) => id);
    expect(ids).toEqual([...messages.map(({ id }) => id), next.id]);
    expect(await now.message(messages[0].id)).toMatchObject(messages[0]);
    expect(await now.post({ ...next, id: `a${fresh()}` }, LIMITS)).toBe('receipts-full');
    const anew = { ...message('a', 't'), id: `a${fresh()}` };
    expect(await now.post(anew, { ...LIMITS, receipts: 9 })).toBe('added');
    expect(await now.message(messages[1].id)).toBeUndefined();
    for (const id of [messages[0].id, messages[2].id]) expect(await now.acknowledge(id)).toBe(true);
    for (const id of [messages[0].id, messages[2].id]) {
      expect(await now.acknowledge(id)).toBe(false);
    }
    expect(await now.receipts(far, 0, 9)).toMatchObject([
      { message: messages[0].id, outcome: 'delivered' },
    ]);
    expect(await now.receipts(near, 0, 9)).toMatchObject([
      { message: messages[2].id, outcome: 'delivered' },
    ]);
    expect(await now.receipts(gone, 0, 9)).toMatchObject([{ outcome: 'gone' }]);
    const later = { id: `a${fresh()}`, subscription: first.id, until: SOON };
    expect(await now.openReceipts(later, 1)).toBe('full');
    expect(await now.openReceipts(later, 2)).toBe('added');
    expect(await now.unsubscribe(first.id)).toBe(true);
    expect(await now.subscriptionOf(first.push)).toBeUndefined();
    expect(await place.redis.cli('KEYS', '*:push:message:*')).toBe('');
  }

  test.each([
    ['a receipt subscription is written', /^SCRIPT \{test:.\}:push:receipts/],
    ['a message is written', /^SCRIPT \{test:.\}:push:message:/],
    ['a message is listed', /^SCRIPT \{test:.\}:push:messages/],
    ['the former place of a message leads to it', /^SCRIPT \{test:.\}:push:moved/],
    ['topics are written', /^SCRIPT \{test:.\}:push:topics/],
    ['the last place is written', /^SCRIPT \{test:.\}:push:places/],
    ['the place of a subscription is taken', /^SCRIPT \{test:.\}:push:order/],
    ['a subscription is written', /^SCRIPT \{test:.\}:push:subscriptions/],
    ['the former subscriptions are removed', /^DEL \{test\}:push:subscriptions/],
    ['the former messages are removed', /^DEL \{test\}:push:message:/],
    ['the former receipts are removed', /^DEL \{test\}:push:told/],
  ])(
    'stopped before %s: the next run moves the rest, and what is known of each opens it',
    async (_, step) => {
      const work = () => Promise.reject(new Error('stopped'));
      place.connection.interruptions.push({ before: step, work });
      await expect(move(place.connection)).rejects.toThrow('stopped');
      expect(place.connection.interruptions).toEqual([]);
      await move(place.undisturbed);
      await expectAllMoved();
    },
  );

  test('stopped before the push resource is written: the next run writes it', async () => {
    const work = () => Promise.reject(new Error('stopped'));
    place.connection.interruptions.push({ before: /^HSET \{test:.\}:push:resources/, work });
    await expect(move(place.connection)).rejects.toThrow('stopped');
    await move(place.undisturbed);
    await expectAllMoved();
  });

  test.each([
    ['a message', /^SCRIPT \{test:.\}:push:message:/],
    ['a receipt subscription', /^SCRIPT \{test:.\}:push:receipts/],
    ['a subscription', /^SCRIPT \{test:.\}:push:subscriptions/],
  ])(
    'a run that stands still before it writes %s brings back nothing that has ended after another run',
    async (_, step) => {
      place.connection.interruptions.push({
        before: step,
        async work() {
          await move(place.undisturbed);
          const now = pushIn('all');
          for (const id of [near, far, gone]) await now.closeReceipts(id);
          await now.unsubscribe(first.id);
        },
      });
      await expect(move(place.connection)).rejects.toThrow('another run of the command');
      const keys = (await place.redis.cli('KEYS', '*:push:*')).split('\n');
      expect(keys.filter((key) => !/:(news|order|moved:.*)$/.test(key))).toEqual([]);
      expect(await pushIn('all').subscriptionsOf('alice')).toEqual([]);
    },
  );
});

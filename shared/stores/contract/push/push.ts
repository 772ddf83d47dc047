import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { type PushSubscription, URGENCIES } from '../../push/push.ts';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';
import { LIMITS, MANY, receiptsOf, someMessage, someSubscription, subscribed } from './samples.ts';

const ODD = ['', '*', '__proto__', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)];

export function pushContract(contract: () => Contract): void {
  describe('push: subscriptions', () => {
    test('RFC 8030 section 4: a subscription is kept whole, found by its id, its push resource and its person', async () => {
      const { other } = contract();
      const restricted = { key: 'B'.repeat(87) };
      for (const one of [await subscribed(contract()), await subscribed(contract(), restricted)]) {
        expect(await other.push.subscription(one.id)).toEqual(one);
        expect(await other.push.subscriptionOf(one.push)).toEqual(one);
        expect(await other.push.subscriptionsOf(one.person)).toEqual([one]);
      }
    });

    test('a subscription is not found by the id as a push resource, or by the push resource as an id', async () => {
      const { one } = contract();
      const { id, push } = await subscribed(contract());
      expect(await one.push.subscription(push)).toBeUndefined();
      expect(await one.push.subscriptionOf(id)).toBeUndefined();
    });

    test('a person has at most so many subscriptions, even with ten requests at once, and has room again after an end', async () => {
      const { one, other } = contract();
      const person = fresh();
      const made = Array.from({ length: 10 }, (_, n) =>
        someSubscription({ person, created_at: n }),
      );
      const outcomes = await Promise.all(
        made.map((each, n) => (n % 2 === 0 ? one : other).push.subscribe(each, 3)),
      );
      expect(outcomes.toSorted()).toEqual([
        ...Array<string>(3).fill('added'),
        ...Array<string>(7).fill('full'),
      ]);
      const kept = made.filter((_, n) => outcomes[n] === 'added');
      expect(await other.push.subscriptionsOf(person)).toEqual(kept);
      expect(await one.push.unsubscribe(kept[0]?.id ?? '')).toBe(true);
      expect(await other.push.subscribe(someSubscription({ person, created_at: 11 }), 3)).toBe(
        'added',
      );
    });

    test('an ended subscription is gone with its messages, for every process', async () => {
      const { one, other } = contract();
      const { id, push, person } = await subscribed(contract());
      const message = someMessage(contract(), id);
      await one.push.post(message, LIMITS);
      expect(await other.push.unsubscribe(id)).toBe(true);
      expect(await one.push.unsubscribe(id)).toBe(false);
      expect(await one.push.subscription(id)).toBeUndefined();
      expect(await one.push.subscriptionOf(push)).toBeUndefined();
      expect(await one.push.subscriptionsOf(person)).toEqual([]);
      expect(await one.push.message(message.id)).toBeUndefined();
      expect(await one.push.messages(id, 0, 'very-low', MANY)).toEqual([]);
      expect(await one.push.acknowledge(message.id)).toBe(false);
      expect(await one.push.post(someMessage(contract(), id), LIMITS)).toBe('ended');
    });

    test('all subscriptions are returned in parts', async () => {
      const { one, other } = contract();
      const made = [];
      for (let n = 0; n < 250; n += 1) made.push((await subscribed(contract())).id);
      const found = new Map<string, PushSubscription>();
      let parts = 0;
      for (let cursor: string | undefined, begun = false; !begun || cursor !== undefined;) {
        const some = await (parts % 2 === 0 ? one : other).push.someSubscriptions(cursor);
        for (const each of some.subscriptions) found.set(each.id, each);
        begun = true;
        parts += 1;
        cursor = some.cursor;
      }
      expect(made.filter((id) => !found.has(id))).toEqual([]);
      expect(parts).toBeGreaterThan(2);
      const [id = ''] = made;
      expect(found.get(id)).toEqual(await one.push.subscription(id));
      for (const each of made) await one.push.unsubscribe(each);
    });

    test('an unknown id, however odd, is absent', async () => {
      const { one } = contract();
      for (const id of ODD) {
        expect(await one.push.subscription(id)).toBeUndefined();
        expect(await one.push.subscriptionOf(id)).toBeUndefined();
        expect(await one.push.subscriptionsOf(id)).toEqual([]);
        expect(await one.push.unsubscribe(id)).toBe(false);
        expect(await one.push.message(id)).toBeUndefined();
        expect(await one.push.messages(id, 0, 'very-low', MANY)).toEqual([]);
        expect(await one.push.acknowledge(id)).toBe(false);
        expect(await one.push.hasReceipts(id)).toBe(false);
        expect(await one.push.closeReceipts(id)).toBe(false);
        expect(await one.push.receipts(id, 0, MANY)).toEqual([]);
      }
    });
  });

  describe('push: messages', () => {
    test('section 5: both processes return any message unchanged', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const text = anyText({ maxLength: 40 });
      const urgencies = fc.constantFrom(...URGENCIES);
      const bodies = fc.uint8Array({ maxLength: 4096 });
      await fc.assert(
        fc.asyncProperty(text, text, urgencies, bodies, async (type, coding, urgency, body) => {
          const message = someMessage(contract(), id, {
            type,
            coding,
            urgency,
            body: Buffer.from(body),
          });
          expect(await one.push.post(message, LIMITS)).toBe('added');
          const found = await other.push.message(message.id);
          expect(found).toEqual({ ...message, place: found?.place });
        }),
        { numRuns: 30 },
      );
    });

    test('messages after a position are returned in the order of their acceptance, up to a limit', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const ids: string[] = [];
      for (let n = 0; n < 6; n += 1) {
        const message = someMessage(contract(), id);
        await (n % 2 === 0 ? one : other).push.post(message, LIMITS);
        ids.push(message.id);
      }
      const first = await one.push.messages(id, 0, 'very-low', 4);
      expect(first.map((each) => each.id)).toEqual(ids.slice(0, 4));
      const rest = await other.push.messages(id, first.at(-1)?.place ?? 0, 'very-low', MANY);
      expect(rest.map((each) => each.id)).toEqual(ids.slice(4));
      expect(await other.push.messages(fresh(), 0, 'very-low', MANY)).toEqual([]);
    });

    test('section 5.3: no message is returned that is less urgent than requested', async () => {
      const { one } = contract();
      const { id } = await subscribed(contract());
      for (const urgency of URGENCIES) {
        await one.push.post(someMessage(contract(), id, { urgency }), LIMITS);
      }
      for (const [n, least] of URGENCIES.entries()) {
        const found = await one.push.messages(id, 0, least, MANY);
        expect(found.map((each) => each.urgency)).toEqual(URGENCIES.slice(n));
      }
    });

    test('section 5.4: a message replaces only the message with its topic in the same subscription', async () => {
      const { one, other } = contract();
      const [mine, another] = [await subscribed(contract()), await subscribed(contract())];
      const first = someMessage(contract(), mine.id, { topic: 'Upd' });
      const others = [
        someMessage(contract(), mine.id, { topic: 'upd' }),
        someMessage(contract(), mine.id),
        someMessage(contract(), another.id, { topic: 'Upd' }),
      ];
      for (const each of [first, ...others]) await one.push.post(each, LIMITS);
      const second = someMessage(contract(), mine.id, { topic: 'Upd' });
      expect(await other.push.post(second, LIMITS)).toBe('added');
      expect(await one.push.message(first.id)).toBeUndefined();
      expect(await one.push.acknowledge(first.id)).toBe(false);
      for (const each of [...others, second]) {
        expect(await one.push.message(each.id)).toMatchObject({ id: each.id });
      }
      const found = await one.push.messages(mine.id, 0, 'very-low', MANY);
      expect(found.map((each) => each.id)).toEqual([others[0]?.id, others[1]?.id, second.id]);
    });

    test('if ten messages with one topic arrive at once, one is left', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      for (let round = 0; round < 5; round += 1) {
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            (n % 2 === 0 ? one : other).push.post(
              someMessage(contract(), id, { topic: 'race' }),
              LIMITS,
            ),
          ),
        );
        expect(outcomes).toEqual(outcomes.map(() => 'added'));
        expect(await one.push.messages(id, 0, 'very-low', MANY)).toHaveLength(1);
      }
    });

    test('a subscription has at most so many messages, even with ten at once; a replacement makes room', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const limits = { ...LIMITS, messages: 3 };
      await one.push.post(someMessage(contract(), id, { topic: 'one' }), limits);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).push.post(someMessage(contract(), id), limits),
        ),
      );
      expect(outcomes.filter((each) => each === 'added')).toHaveLength(2);
      expect(outcomes.filter((each) => each === 'full')).toHaveLength(8);
      const again = someMessage(contract(), id, { topic: 'one' });
      expect(await other.push.post(again, limits)).toBe('added');
      const last = someMessage(contract(), id, { topic: 'another' });
      expect(await other.push.post(last, limits)).toBe('full');
      expect(await other.push.acknowledge(again.id)).toBe(true);
      expect(await one.push.post(last, limits)).toBe('added');
    });

    test('section 6.2: an acknowledged message is not returned again, and one of ten callers acknowledges it', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const message = someMessage(contract(), id, { topic: 'upd' });
      await one.push.post(message, LIMITS);
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).push.acknowledge(message.id),
        ),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await other.push.message(message.id)).toBeUndefined();
      expect(await other.push.messages(id, 0, 'very-low', MANY)).toEqual([]);
    });

    test('section 5.2: an expired message is absent, swept or not, and makes room', async () => {
      const { one, other, store } = contract();
      const { id } = await subscribed(contract());
      const message = someMessage(contract(), id, { topic: 'upd' });
      await one.push.post(message, { ...LIMITS, messages: 1 });
      await store.passSeconds(30);
      expect(await other.push.messages(id, 0, 'very-low', MANY)).toHaveLength(1);
      await store.passSeconds(60);
      expect(await other.push.message(message.id)).toBeUndefined();
      expect(await other.push.messages(id, 0, 'very-low', MANY)).toEqual([]);
      expect(await other.push.acknowledge(message.id)).toBe(false);
      const limits = { ...LIMITS, messages: 1 };
      expect(await one.push.post(someMessage(contract(), id), limits)).toBe('added');
    });

    test('ended subscriptions and messages leave no row', async () => {
      const { one, store } = contract();
      const counted = async () => {
        while ((await one.sweep()) > 0);
        return store.countAll();
      };
      // The rows with the positions and the news.
      const first = await subscribed(contract());
      const opened = await receiptsOf(contract(), first.id);
      await one.push.post(someMessage(contract(), first.id, { receipts: opened }), LIMITS);
      await one.push.closeReceipts(opened);
      await store.passSeconds(120);
      const before = await counted();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      for (const topic of ['a', 'b']) {
        await one.push.post(someMessage(contract(), id, { topic, receipts }), LIMITS);
      }
      await one.push.closeReceipts(receipts);
      await one.push.unsubscribe(id);
      await store.passSeconds(120);
      // Rows of other tests may have expired by now, too.
      expect(await counted()).toBeLessThanOrEqual(before);
    });
  });

  describe('push: news of messages and ends of subscriptions', () => {
    test('a process gets each piece of news of another process once', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const quiet = await subscribed(contract());
      const ids = [id, quiet.id];
      const start = await other.push.news(ids);
      expect([...start.of].toSorted()).toEqual(ids.toSorted());
      await one.push.post(someMessage(contract(), id), LIMITS);
      const told = await other.push.news(ids, start.position);
      expect(told.of.has(id)).toBe(true);
      expect(told.of.has(quiet.id)).toBe(false);
      expect((await other.push.news(ids, told.position)).of.has(id)).toBe(false);
      await one.push.unsubscribe(id);
      expect((await other.push.news(ids, told.position)).of.has(id)).toBe(true);
    });

    test('a process still gets new messages after all earlier news are forgotten', async () => {
      const { one, store } = contract();
      const { id } = await subscribed(contract());
      await one.push.post(someMessage(contract(), id), LIMITS);
      const { position } = await one.push.news([id]);
      await store.passSeconds(120);
      while ((await one.sweep()) > 0);
      await one.push.post(someMessage(contract(), id), LIMITS);
      expect((await one.push.news([id], position)).of.has(id)).toBe(true);
    });
  });
}

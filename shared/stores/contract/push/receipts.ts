import { describe, expect, test } from '@jest/globals';
import { fresh } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';
import { LIMITS, MANY, receiptsOf, someMessage, subscribed } from './samples.ts';

export function pushReceiptsContract(contract: () => Contract): void {
  /** A message with a receipt, of its own subscription. */
  async function posted(receipts: string, subscription: string, topic?: string) {
    const topical = topic === undefined ? {} : { topic };
    const message = someMessage(contract(), subscription, { receipts, ...topical });
    expect(await contract().one.push.post(message, LIMITS)).toBe('added');
    return message.id;
  }

  const told = async (receipts: string, after = 0) =>
    (await contract().other.push.receipts(receipts, after, MANY)).map(
      ({ message, outcome }) => `${message} ${outcome}`,
    );

  describe('push: receipts', () => {
    test('RFC 8030 section 5.1: a receipt subscription is known to every process, and no other id is one', async () => {
      const { other } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      expect(await other.push.hasReceipts(receipts)).toBe(true);
      for (const none of [id, fresh(), '']) expect(await other.push.hasReceipts(none)).toBe(false);
    });

    test('a message for a receipt subscription that does not exist is not kept', async () => {
      const { one } = contract();
      const { id } = await subscribed(contract());
      const message = someMessage(contract(), id, { receipts: fresh() });
      expect(await one.push.post(message, LIMITS)).toBe('no-receipts');
      expect(await one.push.message(message.id)).toBeUndefined();
    });

    test('sections 6.2 and 6.3: receipts say delivered after an acknowledgement and gone after the end of the subscription, in order', async () => {
      const { one, other } = contract();
      const [mine, another] = [await subscribed(contract()), await subscribed(contract())];
      const receipts = await receiptsOf(contract(), mine.id);
      const first = await posted(receipts, mine.id);
      const second = await posted(receipts, another.id);
      const third = await posted(receipts, mine.id);
      expect(await told(receipts)).toEqual([]);
      await other.push.acknowledge(third);
      await other.push.acknowledge(second);
      await other.push.unsubscribe(mine.id);
      expect(await told(receipts)).toEqual([
        `${third} delivered`,
        `${second} delivered`,
        `${first} gone`,
      ]);
      const [{ place } = { place: 0 }] = await one.push.receipts(receipts, 0, 1);
      expect(await told(receipts, place)).toEqual([`${second} delivered`, `${first} gone`]);
    });

    test('a forgotten receipt is not returned again', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      const [first, second] = [await posted(receipts, id), await posted(receipts, id)];
      await one.push.acknowledge(first);
      await one.push.acknowledge(second);
      await other.push.forgetReceipt(receipts, first);
      await other.push.forgetReceipt(fresh(), second);
      expect(await told(receipts)).toEqual([`${second} delivered`]);
    });

    test('section 7.3: a closed receipt subscription is gone, and gets no receipts', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      const [first, second] = [await posted(receipts, id), await posted(receipts, id)];
      await one.push.acknowledge(first);
      const { position } = await other.push.news([receipts]);
      const closed = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).push.closeReceipts(receipts),
        ),
      );
      expect(closed.filter(Boolean)).toHaveLength(1);
      expect((await other.push.news([receipts], position)).of.has(receipts)).toBe(true);
      expect(await other.push.hasReceipts(receipts)).toBe(false);
      expect(await one.push.acknowledge(second)).toBe(true);
      expect(await told(receipts)).toEqual([]);
      const late = someMessage(contract(), id, { receipts });
      expect(await one.push.post(late, LIMITS)).toBe('no-receipts');
    });

    test('section 5.4: no receipt is sent of a message that was replaced', async () => {
      const { one } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      const replaced = await posted(receipts, id, 'upd');
      const second = await posted(receipts, id, 'upd');
      expect(await one.push.acknowledge(replaced)).toBe(false);
      expect(await one.push.acknowledge(second)).toBe(true);
      expect(await told(receipts)).toEqual([`${second} delivered`]);
    });

    test('a message that expires has no receipt', async () => {
      const { one, store } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      await posted(receipts, id);
      await store.passSeconds(120);
      await one.push.unsubscribe(id);
      expect(await told(receipts)).toEqual([]);
    });

    test('a push resource has at most so many receipt subscriptions, even with ten requests at once', async () => {
      const { one, other, store } = contract();
      const { id } = await subscribed(contract());
      const until = Math.floor(store.clock.now()) + 60_000;
      const opened = () =>
        Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            (n % 2 === 0 ? one : other).push.openReceipts(
              { id: fresh(), subscription: id, until },
              3,
            ),
          ),
        );
      const outcomes = await opened();
      expect(outcomes.filter((each) => each === 'added')).toHaveLength(3);
      expect(outcomes.filter((each) => each === 'full')).toHaveLength(7);
      await store.passSeconds(120);
      const later = {
        id: fresh(),
        subscription: id,
        until: until + 300_000,
      };
      expect(await one.push.openReceipts(later, 3)).toBe('added');
      await one.push.unsubscribe(id);
      expect(await one.push.openReceipts({ ...later, id: `${later.id}x` }, 3)).toBe('ended');
    });

    test('a receipt subscription has at most so many expected and stored receipts', async () => {
      const { one } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      const limits = { ...LIMITS, receipts: 2 };
      const next = () => one.push.post(someMessage(contract(), id, { receipts }), limits);
      await one.push.acknowledge(await posted(receipts, id));
      expect(await next()).toBe('added');
      expect(await next()).toBe('receipts-full');
      const [first] = await one.push.receipts(receipts, 0, 1);
      await one.push.forgetReceipt(receipts, first?.message ?? '');
      expect(await next()).toBe('added');
    });

    test('a receipt subscription outlives its messages by a day, and receipts stay a day', async () => {
      const { one, store } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      const message = await posted(receipts, id);
      await one.push.acknowledge(message);
      await store.passSeconds(86_400 - 600);
      expect(await one.push.hasReceipts(receipts)).toBe(true);
      expect(await told(receipts)).toEqual([`${message} delivered`]);
      await store.passSeconds(1200);
      expect(await one.push.hasReceipts(receipts)).toBe(false);
      expect(await told(receipts)).toEqual([]);
    });

    test('a process that waits for receipts gets news of them', async () => {
      const { one, other } = contract();
      const { id } = await subscribed(contract());
      const receipts = await receiptsOf(contract(), id);
      const message = await posted(receipts, id);
      const { position } = await other.push.news([receipts]);
      await one.push.acknowledge(message);
      expect((await other.push.news([receipts], position)).of.has(receipts)).toBe(true);
    });
  });
}

import { describe, expect, test } from '@jest/globals';
import { fresh, someOutboxMessage } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const { created_at: NOW } = someOutboxMessage('x');
/** More messages than all tests together leave in the queue. */
const MANY = 1000;

export function outboxContract(contract: () => Contract): void {
  /** Takes all messages that are due, and returns those with these ids, with their attempts. */
  const takenOf = async (ids: readonly string[], now: number, until = now + 60_000) => {
    const taken = await contract().other.outbox.take(now, until, MANY);
    return taken.filter(({ id }) => ids.includes(id)).map(({ id, attempt }) => [id, attempt]);
  };

  describe('outbox', () => {
    test('a message is taken as it was added, when it is due', async () => {
      const { one, other } = contract();
      const message = someOutboxMessage(fresh());
      expect(await one.outbox.add(message)).toBe(true);
      expect(await takenOf([message.id], NOW - 1)).toEqual([]);
      const taken = await other.outbox.take(NOW, NOW + 1000, MANY);
      expect(taken).toContainEqual({ ...message, attempt: 1 });
    });

    test('a message with the id of a waiting message is not added, and the first stays', async () => {
      const { one, other } = contract();
      const message = someOutboxMessage(fresh());
      await one.outbox.add(message);
      expect(await other.outbox.add({ ...message, kind: 'another' })).toBe(false);
      const taken = await one.outbox.take(NOW, NOW + 1000, MANY);
      expect(taken).toContainEqual({ ...message, attempt: 1 });
      await other.outbox.remove(message.id);
      expect(await one.outbox.add(message)).toBe(true);
    });

    test('the messages of a person are found until they are removed, and no other messages', async () => {
      const { one, other } = contract();
      const [accountId, first, second] = [fresh(), fresh(), fresh()].toSorted();
      const message = (id = '') => ({ ...someOutboxMessage(id), accountId: accountId ?? '' });
      for (const id of [second, first]) await one.outbox.add(message(id));
      await one.outbox.add({ ...message(fresh()), accountId: `${accountId}x` });
      const found = () => other.outbox.of(accountId ?? '');
      expect(await found()).toEqual([message(first), message(second)]);
      await takenOf([], NOW, NOW + 1000);
      await one.outbox.remove(first ?? '');
      expect(await found()).toEqual([message(second)]);
      await one.outbox.remove(second ?? '');
      expect(await found()).toEqual([]);
    });

    test('no other process gets taken messages for a time; then they are due again, with one more attempt', async () => {
      const { one } = contract();
      const { id } = someOutboxMessage(fresh());
      await one.outbox.add(someOutboxMessage(id));
      expect(await takenOf([id], NOW, NOW + 5000)).toEqual([[id, 1]]);
      expect(await takenOf([id], NOW + 4999)).toEqual([]);
      expect(await takenOf([id], NOW + 5000, NOW + 9000)).toEqual([[id, 2]]);
      expect(await takenOf([id], NOW + 9000)).toEqual([[id, 3]]);
    });

    test('a postponed message is due at its new time, and a removed message never', async () => {
      const { one, other } = contract();
      const [later, gone] = [fresh(), fresh()];
      for (const id of [later, gone]) await one.outbox.add(someOutboxMessage(id));
      await takenOf([], NOW, NOW + 1000);
      await one.outbox.postpone(later, NOW + 7000);
      await one.outbox.remove(gone);
      await other.outbox.postpone(gone, NOW);
      await other.outbox.remove(gone);
      expect(await takenOf([later, gone], NOW + 6999)).toEqual([]);
      expect(await takenOf([later, gone], NOW + 7000)).toEqual([[later, 2]]);
    });

    test('a message that is due later waits until then', async () => {
      const { one } = contract();
      const id = fresh();
      await one.outbox.add({ ...someOutboxMessage(id), due: NOW + 3000 });
      expect(await takenOf([id], NOW + 2999)).toEqual([]);
      expect(await takenOf([id], NOW + 3000)).toEqual([[id, 1]]);
    });

    test('at most the requested number of messages is taken, the longest waiting first', async () => {
      const { one, other } = contract();
      const far = NOW + 1_000_000_000;
      await takenOf([], far, far * 2);
      const ids = [3, 1, 2].map((n) => ({ id: fresh(), created_at: far + n }));
      for (const more of ids) await one.outbox.add({ ...someOutboxMessage(more.id), ...more });
      const inOrder = ids.toSorted((a, b) => a.created_at - b.created_at).map(({ id }) => id);
      const take = async (count: number) =>
        (await other.outbox.take(far + 10, far * 2, count)).map(({ id }) => id);
      expect([await take(2), await take(2), await take(2)]).toEqual([
        inOrder.slice(0, 2),
        inOrder.slice(2),
        [],
      ]);
    });

    test('messages may have odd ids and long texts', async () => {
      const { one } = contract();
      for (const odd of [`${fresh()} '; DROP`, `${fresh()}*`, `${fresh()}\u0000ä😀`]) {
        await one.outbox.add(someOutboxMessage(odd));
        expect(await takenOf([odd], NOW)).toEqual([[odd, 1]]);
        await one.outbox.remove(odd);
        expect(await takenOf([odd], NOW + 100_000)).toEqual([]);
      }
    });
  });
}

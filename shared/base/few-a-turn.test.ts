import { setImmediate as othersTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { fewATurn } from './few-a-turn.ts';

/** Returns how many turns of the event loop `count` callers needed, and the most callers in one turn. */
async function turns(queue: () => Promise<void>, count: number): Promise<readonly number[]> {
  const byTurn: number[] = [0];
  let left = count;
  const tick = () => {
    byTurn.push(0);
    if (left > 0) setImmediate(tick);
  };
  setImmediate(tick);
  await Promise.all(
    Array.from({ length: count }, () =>
      queue().then(() => {
        left -= 1;
        byTurn[byTurn.length - 1] = (byTurn.at(-1) ?? 0) + 1;
      }),
    ),
  );
  return byTurn.filter((some) => some > 0);
}

test.each([1, 4, 5, 8, 9, 1000])(
  'no more than four of %i callers continue in a turn',
  async (count) => {
    const queue = fewATurn(4);
    for (let again = 0; again < 2; again += 1) {
      const all = await turns(queue, count);
      for (let turn = 0; turn < 2; turn += 1) await othersTurn();
      expect(Math.max(...all)).toBeLessThanOrEqual(4);
      expect(all.reduce((sum, some) => sum + some, 0)).toBe(count);
    }
  },
);

test('callers continue in their order', async () => {
  const queue = fewATurn(2);
  const order: number[] = [];
  await Promise.all([1, 2, 3, 4, 5].map((one) => queue().then(() => order.push(one))));
  expect(order).toEqual([1, 2, 3, 4, 5]);
});

import { expect, test } from '@jest/globals';
import { createInTurn } from './in-turn.ts';

test('work with the same key is done in its order, one at a time', async () => {
  const inTurn = createInTurn();
  let running = 0;
  const done: number[] = [];
  const work = (n: number) => async () => {
    running += 1;
    expect(running).toBe(1);
    await Promise.resolve();
    await Promise.resolve();
    running -= 1;
    done.push(n);
    return n;
  };
  const values = [0, 1, 2, 3].map((n) => inTurn('key', work(n)));
  expect(await Promise.all(values)).toStrictEqual([0, 1, 2, 3]);
  expect(done).toStrictEqual([0, 1, 2, 3]);
});

test('work that fails affects only its own caller', async () => {
  const inTurn = createInTurn();
  const failed = inTurn('key', () => Promise.reject(new Error('mine')));
  const next = inTurn('key', async () => 'done');
  await expect(failed).rejects.toThrow('mine');
  expect(await next).toBe('done');
  expect(await inTurn('key', async () => 'later')).toBe('later');
});

test('work with another key does not wait', async () => {
  const inTurn = createInTurn();
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = inTurn('one', () => promise);
  expect(await inTurn('other', async () => 'done')).toBe('done');
  resolve('at last');
  expect(await waiting).toBe('at last');
});

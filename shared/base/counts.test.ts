import { expect, test } from '@jest/globals';
import { Counts } from './counts.js';

const share = (of: string, amount: number, most: number) => ({ of, amount, most });

test('all shares or none', () => {
  const counts = new Counts();
  expect(counts.take(1, [share('alice', 3, 4), share('all', 3, 5)])).toBe(true);
  expect(counts.take(2, [share('bob', 3, 4), share('all', 3, 5)])).toBe(false);
  expect(counts.take(2, [share('bob', 4, 4), share('all', 2, 5)])).toBe(true);
});

test('a holder that is gone holds nothing, the others what they had', () => {
  const counts = new Counts();
  for (const holder of [1, 2]) counts.take(holder, [share('alice', 2, 4)]);
  counts.give(1, [share('alice', 1, 4)]);
  counts.forget(1);
  counts.forget(1);
  expect(counts.take(3, [share('alice', 3, 4)])).toBe(false);
  expect(counts.take(3, [share('alice', 2, 4)])).toBe(true);
});

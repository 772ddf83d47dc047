import { expect, test } from '@jest/globals';
import { nearestCost } from './hash-cost.ts';

test('each cost of bcrypt takes twice the time of the one before; the nearest is by the ratio', () => {
  const known = { cost: 12, milliseconds: 256 };
  expect(nearestCost(256, known)).toBe(12);
  expect(nearestCost(8, known)).toBe(7);
  expect(nearestCost(5.8, known)).toBe(7);
  expect(nearestCost(5.6, known)).toBe(6);
  expect(nearestCost(1000, known)).toBe(14);
});

test('bcrypt has costs from 4 to 31', () => {
  const known = { cost: 12, milliseconds: 256 };
  expect(nearestCost(0.001, known)).toBe(4);
  expect(nearestCost(Number.MAX_VALUE, known)).toBe(31);
});

import { expect, test } from '@jest/globals';
import { median, percentile, round } from './statistics.ts';

test('percentiles are measured values, in any order', () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect(percentile(values, 0.99)).toBe(198);
  expect(percentile(values, 0)).toBe(1);
  expect(percentile(values, 1)).toBe(200);
  expect(median([3, 100, 1, 2, 50])).toBe(3);
  expect(median([7])).toBe(7);
});

test('no values give no result', () => {
  expect(() => median([])).toThrow(RangeError);
});

test('a rounded number is still a number', () => {
  expect(round(12.3456, 1)).toBe(12.3);
  expect(round(-0.004, 2)).toBeCloseTo(0);
});

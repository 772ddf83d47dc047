import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { Bucket } from './floods.ts';

const takes = (bucket: Bucket, count: number) =>
  Array.from({ length: count }, () => bucket.take()).filter(Boolean).length;

test('a bucket gives its burst at once, and then one use in each period', () => {
  const clock = new ManualClock();
  const bucket = new Bucket({ burst: 3, per: 0.5 }, clock);
  expect(takes(bucket, 10)).toBe(3);
  clock.advance(0.49);
  expect(takes(bucket, 10)).toBe(0);
  clock.advance(0.02);
  expect(takes(bucket, 10)).toBe(1);
  clock.advance(1000);
  expect(takes(bucket, 10)).toBe(3);
});

test('a bucket gives no use if the clock is set back', () => {
  const clock = new ManualClock();
  const bucket = new Bucket({ burst: 2, per: 1 }, clock);
  expect(takes(bucket, 5)).toBe(2);
  clock.advance(-1000);
  expect(takes(bucket, 5)).toBe(0);
  clock.advance(1);
  expect(takes(bucket, 5)).toBe(1);
});

test('a bucket never gives more than its burst and the uses of the elapsed periods', () => {
  const step = fc.record({ seconds: fc.nat(100), count: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: 1, max: 10 }), (steps, burst) => {
      const clock = new ManualClock();
      const bucket = new Bucket({ burst, per: 7 }, clock);
      let given = 0;
      let passed = 0;
      for (const { seconds, count } of steps) {
        clock.advance(seconds);
        passed += seconds;
        given += takes(bucket, count);
        expect(given).toBeLessThanOrEqual(burst + passed / 7 + 1e-9);
      }
    }),
  );
});

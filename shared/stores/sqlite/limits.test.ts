/** @slow */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { fresh } from '../contract/samples.ts';
import type { Stores } from '../stores.ts';
import { sqliteUnderTest, type SqliteUnderTest } from './under-test.ts';

let store: SqliteUnderTest;
let stores: Stores;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

test('one more use is allowed exactly after the seconds that the refusal named', async () => {
  const rate = { burst: 2, per: 10 };
  const spend = () => stores.limits.spend('sign-in-name', 'b', rate);
  await spend();
  store.clock.advance(4);
  await spend();
  expect(await spend()).toEqual({ ok: false, retryAfter: 6 });
  store.clock.advance(5.999);
  expect(await spend()).toEqual({ ok: false, retryAfter: 1 });
  store.clock.advance(0.001);
  expect(await spend()).toEqual({ ok: true, remaining: 0, reset: 20 });
  expect(await spend()).toEqual({ ok: false, retryAfter: 10 });
});

test('`reset` is the time until the bucket is full again, in whole seconds, rounded up', async () => {
  const rate = { burst: 4, per: 2.5 };
  const resets: unknown[] = [];
  for (const step of [0, 0, 0.1, 7.4, 100]) {
    store.clock.advance(step);
    const spent = await stores.limits.spend('sign-in-name', 'b', rate);
    resets.push(spent.ok && [spent.remaining, spent.reset]);
  }
  expect(resets).toEqual([
    [3, 3],
    [2, 5],
    [1, 8],
    [3, 3],
    [3, 3],
  ]);
});

test('a clock that is set back never grants more than the burst', async () => {
  const rate = { burst: 3, per: 60 };
  const granted = async () => (await stores.limits.spend('sign-in-name', 'b', rate)).ok;
  expect([await granted(), await granted(), await granted()]).toEqual([true, true, true]);
  store.clock.advance(-3_600);
  expect(await granted()).toBe(false);
});

test('for any rate and pace, no span of time allows more uses than the burst and those that came back in it', async () => {
  const rates = fc.record({
    burst: fc.integer({ min: 1, max: 8 }),
    per: fc.oneof(
      fc.constantFrom(0.005, 0.02, 1 / 3, 1, 7.7),
      fc.double({ min: 0.01, max: 90, noNaN: true }),
    ),
  });
  const pauses = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(rates, pauses, async (rate, steps) => {
      const key = fresh();
      const granted: number[] = [];
      const spend = async () => {
        const spent = await stores.limits.spend('sign-in-name', key, rate);
        if (spent.ok) granted.push(store.clock.now());
        return spent;
      };
      for (let n = rate.burst - 1; n >= 0; n--) {
        expect(await spend()).toMatchObject({ ok: true, remaining: n });
      }
      expect((await spend()).ok).toBe(false);
      for (const step of steps) {
        store.clock.advance(step);
        await spend();
      }
      for (let from = 0; from < granted.length; from++) {
        for (let to = from; to < granted.length; to++) {
          const span = ((granted[to] ?? 0) - (granted[from] ?? 0)) / 1000;
          expect(to - from + 1).toBeLessThanOrEqual(
            rate.burst + Math.floor(span / rate.per + 1e-4),
          );
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('for any rate and pace, exactly the whole burst is allowed after the reset time', async () => {
  const rates = fc.record({
    burst: fc.integer({ min: 1, max: 8 }),
    per: fc.double({ min: 0.01, max: 90, noNaN: true }),
  });
  const pauses = fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(rates, pauses, async (rate, steps) => {
      const key = fresh();
      const spend = () => stores.limits.spend('sign-in-name', key, rate);
      for (const step of [...steps, rate.per + 0.001]) {
        store.clock.advance(step);
        const spent = await spend();
        if (!spent.ok) continue;
        store.clock.advance(spent.reset);
        for (let n = rate.burst - 1; n >= 0; n--) {
          expect(await spend()).toMatchObject({ ok: true, remaining: n });
        }
        expect((await spend()).ok).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});

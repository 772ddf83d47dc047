import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Counts } from '#shared/base/counts.js';
import { until } from '../../../e2e/parts/process.ts';
import { Leases } from './leases.ts';

const BLOCK = 10;

/** Creates the tallies of two workers, and records their requests. `delay`: microtasks until an answer. */
function two(delay = 0) {
  const counts = new Counts();
  let asked = 0;
  const worker = (holder: number) =>
    new Leases(
      {
        take: async (shares) => {
          asked += 1;
          for (let step = 0; step < delay; step += 1) await Promise.resolve();
          return counts.take(holder, shares);
        },
        give: (shares) => counts.give(holder, shares),
      },
      BLOCK,
    );
  return { counts, workers: [worker(1), worker(2)] as const, asked: () => asked };
}

const share = (amount: number, most = 40) => [{ of: 'alice', amount, most }];

test('many small shares need one request to the store', async () => {
  const { workers, asked } = two();
  for (let time = 0; time < 20; time += 1) {
    expect(await workers[0].take(share(3))).toBe(true);
    workers[0].give(share(3));
  }
  expect(asked()).toBe(1);
});

test('a share that fits exactly is granted, even if a block does not fit; a further share is refused', async () => {
  const { workers } = two();
  expect(await workers[0].take(share(35))).toBe(true);
  expect(await workers[1].take(share(1))).toBe(false);
  expect(await workers[0].take(share(5))).toBe(true);
  expect(await workers[0].take(share(1))).toBe(false);
});

test('amounts wanted at the same time are requested together, so that a block for one caller does not block another caller', async () => {
  const { workers, asked } = two(3);
  const atOnce = (worker: number) =>
    Array.from({ length: 20 }, async () => workers[worker]?.take(share(1)));
  expect(await Promise.all([...atOnce(0), ...atOnce(1)])).not.toContain(false);
  expect(asked()).toBeLessThanOrEqual(6);
  expect(await workers[0].take(share(1))).toBe(false);
});

test('callers that wait for one answer get their amounts if they fit, even if another caller asks for too much', async () => {
  const { workers } = two(3);
  const wanted = [35, 41, 3, 30, 2].map(async (amount) => workers[0].take(share(amount)));
  expect(await Promise.all(wanted)).toEqual([true, false, true, false, true]);
});

test('a large share is returned at once, and a block after it was unused for a while', async () => {
  const { counts, workers } = two();
  await workers[0].take(share(40));
  workers[0].give(share(40));
  expect(counts.take(3, share(30))).toBe(true);
  counts.forget(3);
  await until(() => counts.take(3, share(40)));
});

test('all processes together never hold more than the limit', async () => {
  const steps = fc.array(
    fc.record({ worker: fc.constantFrom(0, 1), amount: fc.integer({ min: 1, max: 25 }) }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(3), async (all, delay) => {
      const { workers } = two(delay);
      let held = 0;
      await Promise.all(
        all.map(async ({ worker, amount }) => {
          if (!(await workers[worker].take(share(amount)))) return;
          held += amount;
          expect(held).toBeLessThanOrEqual(40);
          await new Promise(setImmediate);
          held -= amount;
          workers[worker].give(share(amount));
        }),
      );
      expect(held).toBe(0);
    }),
    { numRuns: 50 },
  );
});

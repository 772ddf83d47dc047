import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { shifted } from '../racing/races.ts';
import type { Stores } from '../../stores.ts';
import { fresh, onceFor } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const WIDTH = 128;
/** The highest `nc` of eight hexadecimal digits (RFC 7616 section 3.4). */
const HIGHEST = 0xffff_ffff;

/** Uses a count, and returns whether this was its first use. */
async function isFirst(
  { useCounts }: Stores,
  ...[namespace, key, count, seconds = 60]: [
    namespace: string,
    key: string,
    count: number,
    seconds?: number,
  ]
): Promise<boolean> {
  const use = await useCounts.use(namespace, key, count, onceFor(seconds));
  expect(['first', 'used']).toContain(use);
  return use === 'first';
}

export function useCountsContract(contract: () => Contract): void {
  describe('nonce counts', () => {
    /** Uses a count of a key through one connection or the other. */
    const use = (key: string, count: number, through: 'one' | 'other' = 'one', seconds = 60) =>
      isFirst(contract()[through], 'digest', key, count, seconds);
    /** Uses all counts at once, in this order, and returns the answer to each. */
    const useAll = (key: string, counts: readonly number[], through: 'one' | 'other' = 'one') =>
      Promise.all(counts.map(async (count) => [count, await use(key, count, through)]));

    test('RFC 7616 section 3.4: each count is accepted once in all, also through two connections of the store', async () => {
      const key = fresh();
      for (const count of [1, 2, 3]) {
        expect(await use(key, count)).toBe(true);
        expect(await use(key, count)).toBe(false);
        expect(await use(key, count, 'other')).toBe(false);
      }
    });

    test('requests that overtake one another are all accepted, each once', async () => {
      const key = fresh();
      for (const count of [3, 1, 2, 6, 4]) expect(await use(key, count, 'other')).toBe(true);
      for (const count of [1, 2, 3, 4, 6]) expect(await use(key, count)).toBe(false);
      expect(await use(key, 5)).toBe(true);
    });

    test.each([1, 5, 128, 129, 1000, HIGHEST])(
      'any count may be the first: after %d, unused counts within the window are accepted, and lower counts are refused',
      async (first) => {
        const key = fresh();
        expect(await use(key, first)).toBe(true);
        const window = Array.from({ length: WIDTH - 1 }, (_, n) => first - 1 - n);
        const unused = window.filter((count) => count >= 1);
        expect(await useAll(key, unused)).toEqual(unused.map((count) => [count, true]));
        const used = [...unused, first - WIDTH, first - WIDTH - 1, 1];
        expect(await useAll(key, used)).toEqual(used.map((count) => [count, false]));
      },
    );

    test.each([1, 2, 31, 32, 33, 52, 53, 54, 63, 64, 65, 127, 128, 129, 1000, HIGHEST - 200])(
      'after the highest count rises by %d, used counts within the window stay used',
      async (step) => {
        const key = fresh();
        const before = Array.from({ length: WIDTH }, (_, n) => 73 + n);
        const used = before.filter((count) => count === 200 || count % 3 === 0);
        expect(await useAll(key, used)).toEqual(used.map((count) => [count, true]));
        const highest = 200 + step;
        expect(await use(key, highest)).toBe(true);
        const window = Array.from({ length: WIDTH }, (_, n) => highest - n);
        const asked = [...new Set([...before, ...window.slice(1)])];
        expect(await useAll(key, asked, 'other')).toEqual(
          asked.map((count) => [count, count > highest - WIDTH && !used.includes(count)]),
        );
      },
    );

    test('any counts in any order get the answers of a list of all used counts', async () => {
      const step = fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: -8, max: 8 }) },
        { weight: 3, arbitrary: fc.integer({ min: -140, max: 140 }) },
        { weight: 1, arbitrary: fc.integer({ min: -HIGHEST, max: HIGHEST }) },
      );
      const start = fc.oneof(
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: HIGHEST - 300, max: HIGHEST }),
      );
      await fc.assert(
        fc.asyncProperty(start, fc.array(step, { maxLength: 60 }), async (first, steps) => {
          const key = fresh();
          const used = new Set<number>();
          let highest = 0;
          for (const [n, by] of [0, ...steps].entries()) {
            const count = Math.min(Math.max(Math.max(highest, first) + by, 1), HIGHEST);
            const good = !used.has(count) && count > highest - WIDTH;
            expect(await use(key, count, n % 2 === 0 ? 'one' : 'other')).toBe(good);
            if (good) used.add(count);
            highest = Math.max(highest, count);
          }
        }),
        { numRuns: 60 },
      );
    });

    test('a hundred counts that are sent ten times each at once, through two connections, are accepted once each', async () => {
      const { one, other } = contract();
      const key = fresh();
      const counts = Array.from({ length: 1000 }, (_, n) => 1 + (n % 100)).toSorted(
        (a, b) => ((a * 37) % 101) - ((b * 37) % 101),
      );
      const won = await Promise.all(
        counts.map((count, n) => isFirst(n % 2 === 0 ? one : other, 'a', key, count)),
      );
      const good = counts.filter((_, n) => won[n]);
      expect(good.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    });

    test.each([0, -1, -HIGHEST, 0.5, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 53])(
      '%d is no valid count: it is refused and leaves no row',
      async (count) => {
        const key = fresh();
        expect(await use(key, count)).toBe(false);
        expect(await use(key, 1)).toBe(true);
        expect(await use(key, count)).toBe(false);
        expect(await use(key, 2)).toBe(true);
      },
    );

    test('counts are forgotten a fixed time after the first use, even if they are used meanwhile', async () => {
      const { store } = contract();
      const key = fresh();
      expect(await use(key, 1)).toBe(true);
      await store.passSeconds(40);
      expect(await use(key, 2, 'other', 600)).toBe(true);
      expect(await use(key, 1)).toBe(false);
      await store.passSeconds(40);
      expect(await use(key, 1, 'other')).toBe(true);
      expect(await use(key, 1)).toBe(false);
      await store.passSeconds(40);
      expect(await use(key, 1)).toBe(false);
      expect(await use(key, 2)).toBe(true);
    });

    test('moving characters from the namespace to the key gives another key', async () => {
      const { one } = contract();
      for (const [namespace, key] of shifted(fresh())) {
        expect(await isFirst(one, namespace, key, 1)).toBe(true);
      }
    });

    test('any key, however odd or long, has its own counts', async () => {
      const { one, other } = contract();
      const seen = new Map<string, number>();
      const namespace = fresh();
      const key = fc.oneof(
        anyText({ maxLength: 200 }),
        fc.string().map((text) => text.repeat(5_000)),
      );
      await fc.assert(
        fc.asyncProperty(key, async (value) => {
          const count = (seen.get(value) ?? 0) + 1;
          seen.set(value, count);
          expect(await isFirst(one, namespace, value, count)).toBe(true);
          expect(await isFirst(other, namespace, value, count)).toBe(false);
        }),
        { numRuns: 50 },
      );
    });
  });
}

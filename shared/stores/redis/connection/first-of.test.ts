import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { firstOf, type ReadPart } from './first-of.ts';

const compare = (a: number, b: number) => a - b;

/** Parts as a store has them, each row once. Counts the questions and the rows of their answers. */
function reading(parts: readonly (readonly number[])[]) {
  const counted = { questions: 0, rows: 0 };
  const readers = parts.map((part): ReadPart<number> => {
    const sorted = part.toSorted(compare);
    return async (after, count) => {
      const from = after === undefined ? 0 : sorted.indexOf(after) + 1;
      const found = sorted.slice(from, from + count);
      counted.questions += 1;
      counted.rows += found.length;
      return found;
    };
  });
  return { readers, counted };
}

const number = fc.integer({ min: -500, max: 500 });
const part = fc.oneof(
  fc.uniqueArray(number, { maxLength: 3 }),
  fc.uniqueArray(number, { maxLength: 400 }),
);

test('the first of any parts are the first of all, those that are alike included', async () => {
  const anyParts = fc.array(part, { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(anyParts, fc.integer({ min: 1, max: 300 }), async (parts, count) => {
      const { readers, counted } = reading(parts);
      const expected = parts.flat().toSorted(compare).slice(0, count);
      expect(await firstOf(readers, compare, count)).toEqual(expected);
      // A part is asked for 16 at first, and then for four times what was needed of it.
      expect(counted.rows).toBeLessThanOrEqual(5 * count + 16 * parts.length);
    }),
  );
});

test('one part is asked once, for all', async () => {
  const { readers, counted } = reading([Array.from({ length: 500 }, (_, n) => n)]);
  expect(await firstOf(readers, compare, 200)).toHaveLength(200);
  expect(counted).toEqual({ questions: 1, rows: 200 });
});

test('64 parts that have much each are asked for little more than is returned', async () => {
  const spread = Array.from({ length: 64 }, (_, n) =>
    Array.from({ length: 1000 }, (__, m) => 64 * m + n),
  );
  const { readers, counted } = reading(spread);
  const first = Array.from({ length: 500 }, (_, n) => n);
  expect(await firstOf(readers, compare, 500)).toEqual(first);
  expect(counted).toEqual({ questions: 64, rows: 64 * 16 });
});

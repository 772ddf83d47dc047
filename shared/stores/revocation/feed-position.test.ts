import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { precedes } from './feed-position.ts';

test('entries are ordered as the stores order them', () => {
  const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(number, number, number, number, (a, b, c, d) => {
      const [left, right] = [BigInt(a) * 2n ** 64n + BigInt(b), BigInt(c) * 2n ** 64n + BigInt(d)];
      expect(precedes(`${a}-${b}`, `${c}-${d}`)).toBe(left < right);
      expect(precedes(`${a}-${b}`, `${a}-${b}`)).toBe(false);
    }),
  );
  expect(precedes('9-0', '10-0')).toBe(true);
  expect(precedes('10-9', '10-10')).toBe(true);
});

import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RecentOctets } from './recent-octets.ts';

/** Octets of an entry with a key of one letter, without its value. */
const EMPTY = 514;

describe('octets', () => {
  test('the least recently used entry is removed first', () => {
    const map = new RecentOctets<number>(4 * EMPTY);
    for (const [n, key] of 'abcd'.split('').entries()) map.set(key, n, 0);
    expect(map.get('a')).toBe(0);
    map.set('e', 4, 0);
    expect('abcde'.split('').map((key) => map.get(key))).toEqual([0, undefined, 2, 3, 4]);
  });

  test("a value longer than a quarter of the budget is not kept, and the key's former value is removed", () => {
    const map = new RecentOctets<number>(4 * EMPTY);
    map.set('a', 0, 0);
    map.set('b', 1, 1);
    expect(map.get('b')).toBeUndefined();
    map.set('a', 1, 1);
    expect(map.get('a')).toBeUndefined();
    expect(map.octets).toBe(0);
  });

  test('the octets of a long key use up the budget, too', () => {
    const map = new RecentOctets<number>(4 * EMPTY);
    map.set('aa', 0, 0);
    expect(map.get('aa')).toBeUndefined();
  });

  test('without a budget no entry is kept', () => {
    const map = new RecentOctets<number>(0);
    map.set('a', 0, 0);
    expect(map.get('a')).toBeUndefined();
  });

  test('entries never exceed the budget, and the last entry is always there', () => {
    const sets = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat(3000)));
    fc.assert(
      fc.property(fc.nat(20_000), sets, (budget, all) => {
        const map = new RecentOctets<number>(budget);
        for (const [key, length] of all) {
          map.set(key, length, length);
          expect(map.octets).toBeLessThanOrEqual(budget);
          const fits = 512 + 2 * key.length + length <= budget / 4;
          expect(map.get(key)).toBe(fits ? length : undefined);
        }
      }),
    );
  });
});

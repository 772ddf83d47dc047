import { expect, test } from '@jest/globals';
import { COLLECTION, LARGE, MEMBERS, SMALL, SMALL_PUTS } from './library.ts';

test('each document has its stated length and its own path', () => {
  expect([SMALL, LARGE].map(({ content }) => content.length)).toEqual([1024, 8 * 1024 ** 2]);
  const all = [SMALL, LARGE, ...SMALL_PUTS, ...MEMBERS];
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
  expect(MEMBERS.filter(({ path }) => path.startsWith(COLLECTION))).toHaveLength(1000);
});

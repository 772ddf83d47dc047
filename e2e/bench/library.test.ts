import { expect, test } from '@jest/globals';
import { COLLECTION, LARGE, LARGE_PUTS, MEMBERS, SMALL, SMALL_PUTS, STOCK } from './library.ts';

test('documents are as long as they are said to be, each at a path of its own', () => {
  expect([SMALL, LARGE].map(({ content }) => content.length)).toEqual([1024, 8 * 1024 ** 2]);
  const all = [SMALL, LARGE, STOCK, ...SMALL_PUTS, ...LARGE_PUTS, ...MEMBERS];
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
  expect(MEMBERS.filter(({ path }) => path.startsWith(COLLECTION))).toHaveLength(1000);
});

test('the stock is 100 KiB of JSON, of which a tenth is cheap', () => {
  const { items } = JSON.parse(STOCK.content) as { items: { price: number }[] };
  expect(STOCK.content.length).toBeGreaterThan(100 * 1024);
  expect(STOCK.content.length).toBeLessThan(110 * 1024);
  const cheap = items.filter(({ price }) => price < 10).length;
  expect(cheap / items.length).toBeCloseTo(0.1, 1);
});

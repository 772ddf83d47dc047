import { expect, test } from '@jest/globals';
import { TestExchange } from './sink.fixture.ts';
import { sourceOf } from './cache.ts';
import type { Stored } from './rules/stored.ts';

const KIB = 1024;

/** A reader that has read the first piece from disk, and reads the rest on demand. */
async function reader() {
  const content = { read: async (_: number, most: number) => Buffer.alloc(most), close() {} };
  const { pieces } = sourceOf({} as Stored, content, new TestExchange());
  const each = pieces(0, 1024 * KIB).each(Infinity);
  const reading = each[Symbol.asyncIterator]();
  const { value } = await reading.next();
  return { reading, octets: (value as Buffer).length };
}

test('slow clients read the first 8 MiB together in large pieces, and more in small pieces', async () => {
  const readers = await Promise.all(Array.from({ length: 40 }, reader));
  const sizes = readers.map(({ octets }) => octets);
  expect(sizes.filter((octets) => octets === 256 * KIB)).toHaveLength(32);
  expect(sizes.filter((octets) => octets === 64 * KIB)).toHaveLength(8);
  await readers[0]?.reading.return?.(undefined);
  const next = await reader();
  expect(next.octets).toBe(256 * KIB);
  for (const { reading } of [next, ...readers]) await reading.return?.(undefined);
  expect((await reader()).octets).toBe(256 * KIB);
});

import { expect, test } from '@jest/globals';
import { randomId, systemRandom } from './random.ts';

test('random bytes have the requested length, never repeat and are never zeros', () => {
  const draws = Array.from({ length: 5000 }, (_, index) => systemRandom(16 + (index % 150)));
  expect(draws.every(({ length }, index) => length === 16 + (index % 150))).toBe(true);
  // All runs of 16 bytes, so that no two results overlap.
  const blocks = draws.flatMap((draw) =>
    Array.from({ length: Math.floor(draw.length / 16) }, (_, at) =>
      draw.subarray(16 * at, 16 * at + 16).toString('hex'),
    ),
  );
  expect(new Set(blocks).size).toBe(blocks.length);
  expect(blocks).not.toContain('0'.repeat(32));
});

test('bytes that were given out do not change later', () => {
  const first = systemRandom(32);
  const kept = first.toString('hex');
  for (let draws = 0; draws < 1000; draws += 1) systemRandom(32).fill(0xff);
  expect(first.toString('hex')).toBe(kept);
});

test('an identifier has 128 bits in the alphabet of base64url', () => {
  expect(randomId(systemRandom)).toMatch(/^[\w-]{22}$/);
});

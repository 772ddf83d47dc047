import { expect, test } from '@jest/globals';
import { randomId, systemRandom } from './random.ts';

test('draws of any length are as long as asked, never repeat and are never of zeros', () => {
  const draws = Array.from({ length: 5000 }, (_, index) => systemRandom(16 + (index % 150)));
  expect(draws.every(({ length }, index) => length === 16 + (index % 150))).toBe(true);
  // Any 16 bytes in a row, so that no two draws overlap.
  const blocks = draws.flatMap((draw) =>
    Array.from({ length: Math.floor(draw.length / 16) }, (_, at) =>
      draw.subarray(16 * at, 16 * at + 16).toString('hex'),
    ),
  );
  expect(new Set(blocks).size).toBe(blocks.length);
  expect(blocks).not.toContain('0'.repeat(32));
});

test('octets that were given out stay as they were', () => {
  const first = systemRandom(32);
  const kept = first.toString('hex');
  for (let draws = 0; draws < 1000; draws += 1) systemRandom(32).fill(0xff);
  expect(first.toString('hex')).toBe(kept);
});

test('an identifier has 128 bits in the alphabet of base64url', () => {
  expect(randomId(systemRandom)).toMatch(/^[\w-]{22}$/);
});

import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { ASSUMED } from '../bench/scale-out/costs.ts';
import { needOf, scaleTables } from '../bench/scale-out/scale.ts';

const PAGE = new URL('../../docs/explanation/scale.md', import.meta.url);

test.each([0, 1, 2])('docs/explanation/scale.md has the computed table %i', async (n) => {
  expect(await readFile(PAGE, 'utf8')).toContain(`\n\n${scaleTables()[n]}\n`);
});

describe('the needs of people', () => {
  test('grow with the number of people, and are above zero', () => {
    const [few, many] = [needOf(1_000_000), needOf(100_000_000)];
    expect(many.verdicts).toBeCloseTo(100 * few.verdicts);
    expect(few.verdicts).toBe(
      100_000 / ASSUMED['seconds between two requests of an active person'],
    );
    expect(Math.min(...Object.values(few))).toBeGreaterThan(0);
  });

  test('revocations are remembered for three days and the lifetime of a token', () => {
    const seconds = 3 * 86_400 + 600;
    const aSecond = (1_000_000 * ASSUMED['revocations of a person in a day']) / 86_400;
    expect(needOf(1_000_000).remembered).toBeCloseTo(aSecond * seconds);
  });
});

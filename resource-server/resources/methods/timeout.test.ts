import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { timeoutOf } from './lock.ts';

const wished = (...lines: readonly string[]) =>
  timeoutOf({ rawHeaders: lines.flatMap((line) => ['Timeout', line]) });

describe('RFC 4918 section 10.7: Timeout', () => {
  test.each<[readonly string[], number | undefined]>([
    [[], undefined],
    [['Second-3600'], 3600],
    [['Infinite'], Infinity],
    [['infinite,second-5'], Infinity],
    [[' second-5 , Infinite'], 5],
    [['Extend-x, Second-4100000000'], 4_100_000_000],
    [['Soon', 'Second-7'], 7],
    [[`Second-${'9'.repeat(400)}`], Infinity],
    [['Second- 5'], undefined],
    [['Second-'], undefined],
    [['Second--5'], undefined],
    [['Second-5.5'], undefined],
    [['Second-1e3'], undefined],
    [['Infinitely'], undefined],
    [[''], undefined],
  ])('the Timeout field %j is read', (lines, seconds) => {
    expect(wished(...lines)).toBe(seconds);
  });

  test('any Timeout field gives undefined, a number of at least zero, or Infinity', () => {
    const piece = fc.constantFrom('Second-', 'Infinite', ',', ' ', '-', '0', '12', 'x', '.');
    const line = fc.oneof(
      fc.string(),
      fc.array(piece).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 3 }), (lines) => {
        const seconds = wished(...lines) ?? 0;
        expect(seconds >= 0).toBe(true);
      }),
    );
  });
});

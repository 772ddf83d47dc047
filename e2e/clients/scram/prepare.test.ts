import { saslprep as reference } from '@mongodb-js/saslprep';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { opaqueString, saslprep } from './prepare.ts';

describe('SASLprep (RFC 4013 section 3)', () => {
  test.each([
    ['I\u00adX', 'IX'],
    ['user', 'user'],
    ['USER', 'USER'],
    ['\u00aa', 'a'],
    ['\u2168', 'IX'],
    ['a\u00a0b', 'a b'],
  ])('%j becomes %j', (text, prepared) => {
    expect(saslprep(text)).toBe(prepared);
  });

  test.each(['\u0007', '\u06271', '', '\u00ad', '\ue000', '\ufffd', '\u05d0a\u05d0', '\ud800'])(
    '%j is refused',
    (text) => {
      expect(() => saslprep(text)).toThrow();
    },
  );

  test("agrees with @mongodb-js/saslprep's tables for all characters of Unicode 3.2", () => {
    const ranges = [
      [0x20, 0x24f],
      [0x5d0, 0x5ea],
      [0x621, 0x63a],
      [0x2000, 0x200a],
      [0x200c, 0x200f],
      [0x2028, 0x202f],
      [0x2100, 0x213a],
      [0xac00, 0xd7a3],
      [0xfb1d, 0xfb36],
    ] as const;
    const unit = fc.oneof(
      ...ranges.map(([min, max]) =>
        fc.integer({ min, max }).map((point) => String.fromCodePoint(point)),
      ),
    );
    fc.assert(
      fc.property(
        fc
          .string({ unit, minLength: 1, maxLength: 6 })
          // Without characters that are newer, and without U+2132, which was no letter then.
          .filter((text) => !/[\u0221\u0234-\u024f\u2132]/.test(text)),
        (text) => {
          expect(outcome(saslprep, text)).toBe(outcome(reference, text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('OpaqueString (RFC 8265 section 4.2; RFC 7804 section 2.2)', () => {
  test.each([
    ['\u00bd', '\u00bd'],
    ['a\u0308', '\u00e4'],
    ['a\u3000b', 'a b'],
    ['\u212b', '\u00c5'],
  ])('%j becomes %j', (text, prepared) => {
    expect(opaqueString(text)).toBe(prepared);
  });

  test.each(['', 'a\tb', 'I\u00adX', '\u200b', '\ue000', '\ufeff'])('%j is refused', (text) => {
    expect(() => opaqueString(text)).toThrow();
  });
});

/** Returns the prepared text; empty if it is refused or becomes empty. */
function outcome(prepare: (text: string) => string, text: string): string {
  try {
    return prepare(text);
  } catch {
    return '';
  }
}

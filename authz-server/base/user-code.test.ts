import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { displayUserCode, normaliseUserCode } from './user-code.ts';

const ALPHABET = Array.from('BCDFGHJKLMNPQRSTVWXZ');
const codes = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 8, maxLength: 8 });
const noise = fc.array(
  fc.constantFrom('-', ' ', '.', '\t', '\u2013', '\u00a0', 'a', '7', '\u0000'),
  {
    minLength: 9,
    maxLength: 9,
  },
);

describe('user codes (RFC 8628 section 6.1)', () => {
  test('case, dashes, spaces and letters outside the alphabet do not matter', () => {
    fc.assert(
      fc.property(codes, noise, fc.boolean(), (code, between, lower) => {
        const letters = lower ? code.toLowerCase() : code;
        const typed = between.map((other, at) => other + (letters[at] ?? '')).join('');
        expect(normaliseUserCode(typed)).toBe(code);
      }),
    );
  });

  test('a displayed code is read as the original code', () => {
    fc.assert(
      fc.property(codes, (code) => {
        expect(displayUserCode(code)).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
        expect(normaliseUserCode(displayUserCode(code))).toBe(code);
      }),
    );
  });

  test('any input gives a code of eight letters of the alphabet, or none', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 100 }), (typed) => {
        expect(normaliseUserCode(typed) ?? 'BBBBBBBB').toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
      }),
    );
  });

  test.each([
    ['nothing', ''],
    ['too short', 'BCDF-GHJ'],
    ['too long', 'BCDF-GHJK-L'],
    ['digits', '1234-5678'],
    ['letters that only look or fold alike', 'ſſſſſſſſ'],
    ['letters that become longer in upper case', 'ßßßß'],
    ['full-width letters', 'ＢＣＤＦＧＨＪＫ'],
    ['oversize, with a right code in it', `BCDFGHJK${'-'.repeat(57)}`],
  ])('input that is no code: %s', (_name, typed) => {
    expect(normaliseUserCode(typed)).toBeUndefined();
  });
});

import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadRequest } from './fields.ts';
import { preferredReturn } from './prefer.ts';

const of = (...values: string[]) => preferredReturn(values.flatMap((value) => ['Prefer', value]));

describe('RFC 7240 section 4.2', () => {
  test.each([
    ['return=representation', 'representation'],
    ['return=minimal', 'minimal'],
    ['Return = Representation', 'representation'],
    ['return="minimal"', 'minimal'],
    ['return=representation; foo="some, parameter"', 'representation'],
    ['wait=10, respond-async, return=minimal', 'minimal'],
    [', return=minimal,', 'minimal'],
    ['x="return=minimal", return=representation', 'representation'],
    ['handling=lenient', undefined],
    ['return', undefined],
    ['return=', undefined],
    ['return=""', undefined],
    ['return=everything', undefined],
    ['return-representation', undefined],
    ['return=representations', undefined],
    ['x; return=minimal', undefined],
    ['', undefined],
  ])('%s: %s', (value, wanted) => {
    expect(of(value)).toBe(wanted);
  });

  test('without the field a request has no preference', () => {
    expect(preferredReturn(['Accept', 'return=minimal'])).toBeUndefined();
  });

  test('section 2: the lines of Prefer are one list, in which the first preference applies', () => {
    expect(of('wait=1', 'return=minimal')).toBe('minimal');
    expect(of('return=minimal', 'return=minimal')).toBe('minimal');
    expect(of('return=everything', 'return=minimal')).toBeUndefined();
  });

  test('RFC 9110 section 5.4: 1,024 preferences are read, and what follows is ignored', () => {
    expect(of('a,'.repeat(1000), 'a,'.repeat(23), 'return=minimal')).toBe('minimal');
    expect(of('a,'.repeat(1000), 'a,'.repeat(24), 'return=minimal')).toBeUndefined();
  });

  test('two different preferences are both ignored', () => {
    expect(of('return=representation, return=minimal')).toBeUndefined();
    expect(of('return=minimal', 'return=representation')).toBeUndefined();
  });

  test('a quoted string that never ends is malformed', () => {
    expect(() => of('return="minimal')).toThrow(BadRequest);
  });

  test('any field gives a preference, undefined or 400', () => {
    const pieces = fc.constantFrom('return', '=', '"', 'minimal', 'representation', ',', ';', ' ');
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        try {
          expect([undefined, 'minimal', 'representation']).toContain(of(parts.join('')));
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequest);
        }
      }),
    );
  });
});

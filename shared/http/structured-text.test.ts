import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseDictionary, parseUniqueDictionary } from './structured-fields.ts';
import { dictionaryText, memberText } from './structured-text.ts';

const again = (text: string) => {
  const dictionary = parseDictionary(text);
  return dictionary && dictionaryText(dictionary);
};

describe('RFC 8941 section 4.1: serializing', () => {
  test.each([
    ['a=1,    b=2;x=1;y=2,   c=(a   b   c)', 'a=1, b=2;x=1;y=2, c=(a b c)'],
    ['a, b=?1, c=?0, d;x, e=?1;x=?1;y=?0', 'a, b, c=?0, d;x, e;x;y=?0'],
    ['a=1.50, b=-2.0, c=100.125, d=0', 'a=1.5, b=-2.0, c=100.125, d=0'],
    [String.raw`a="x\"\\y", b=tok/en:1, c=:aGk=:`, String.raw`a="x\"\\y", b=tok/en:1, c=:aGk=:`],
    ['a=("x";sf "y";key="z");created=1;tag="g"', 'a=("x";sf "y";key="z");created=1;tag="g"'],
    ['a=@1659578233, b=@-1', 'a=@1659578233, b=@-1'],
    ['a=%"f%c3%bc %22%25!"', 'a=%"f%c3%bc %22%25!"'],
    ['a=()', 'a=()'],
    ['', ''],
  ])('%s', (text, serialized) => {
    expect(again(text)).toBe(serialized);
    expect(again(serialized)).toBe(serialized);
  });

  test('memberText writes a member without its key', () => {
    const members = parseDictionary('a=1, b=2;x=1;y=2, c=(a b    c), d');
    expect([...(members?.values() ?? [])].map(memberText)).toEqual([
      '1',
      '2;x=1;y=2',
      '(a b c)',
      '?1',
    ]);
  });

  test('a serialized text is read as the same dictionary', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab=1.,;()"?: \\-@%'.split('')) }),
        (text) => {
          const once = again(text);
          if (once !== undefined) expect(again(once)).toBe(once);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('a dictionary whose keys may not come twice', () => {
  test.each(['a=1, a=2', 'a=(x);b;b', 'a=1;x;x=2', 'a=(x;b;b)', 'a, b, a'])(
    '%s is malformed, since a key is repeated',
    (text) => {
      expect(parseUniqueDictionary(text)).toBeUndefined();
      expect(parseDictionary(text)).toBeDefined();
    },
  );

  test('the same key in two different places is no repetition', () => {
    expect(parseUniqueDictionary('a=(x;a y;a);a, b;a')).toBeDefined();
  });
});

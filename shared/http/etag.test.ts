import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { formatEntityTag, parseEntityTag, strongMatch, weakMatch } from './etag.ts';

describe('RFC 9110 section 8.8.3: entity tags', () => {
  test.each([
    ['"xyzzy"', { weak: false, opaque: 'xyzzy' }],
    ['W/"xyzzy"', { weak: true, opaque: 'xyzzy' }],
    ['""', { weak: false, opaque: '' }],
    [String.raw`"a\b"`, { weak: false, opaque: String.raw`a\b` }],
  ])('%s', (value, tag) => {
    expect(parseEntityTag(value)).toEqual(tag);
  });

  test.each(['', 'xyzzy', '"', 'w/"a"', 'W/ "a"', '"a b"', '"a"b"', '"a"\n', '"\0"', '*', "'a'"])(
    '%j is no entity tag',
    (value) => {
      expect(parseEntityTag(value)).toBeUndefined();
    },
  );

  test.each(['"', 'a b', 'a\r\nX: y', '\0', '\u0100'])(
    'the entity tag %j is not written',
    (opaque) => {
      expect(() => formatEntityTag({ weak: false, opaque })).toThrow(TypeError);
    },
  );

  test('entity tags that formatEntityTag writes are read again', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.stringMatching(/^[!\x23-\x7e\x80-\xff]*$/), (weak, opaque) => {
        expect(parseEntityTag(formatEntityTag({ weak, opaque }))).toEqual({ weak, opaque });
      }),
    );
  });
});

test.each([
  ['W/"1"', 'W/"1"', false, true],
  ['W/"1"', 'W/"2"', false, false],
  ['W/"1"', '"1"', false, true],
  ['"1"', '"1"', true, true],
])('RFC 9110 section 8.8.3.2, table 3: %s %s', (one, other, strong, weak) => {
  const [left, right] = [parseEntityTag(one), parseEntityTag(other)];
  if (left === undefined || right === undefined) throw new Error('not a tag');
  expect([strongMatch(left, right), strongMatch(right, left)]).toEqual([strong, strong]);
  expect([weakMatch(left, right), weakMatch(right, left)]).toEqual([weak, weak]);
});

import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { saslprep } from './saslprep.ts';

test.each([
  ['1: a soft hyphen is mapped to nothing', 'I\u00adX', 'IX'],
  ['2: no transformation', 'user', 'user'],
  ['3: case is kept', 'USER', 'USER'],
  ['4: NFKC', '\u00aa', 'a'],
  ['5: NFKC, as "IX"', '\u2168', 'IX'],
  ['6: a prohibited character', '\u0007', undefined],
  ['7: bidirectional text', '\u0627\u0031', undefined],
])('RFC 4013 section 3, example %s', (_, text, prepared) => {
  expect(saslprep(text)).toBe(prepared);
});

test.each([
  ['empty', ''],
  ['nothing is left', '\u00ad\u200d'],
  ['NUL', 'a\u0000b'],
  ['line feed', 'a\nb'],
  ['DEL', 'a\u007f'],
  ['a lone surrogate', 'a\ud800'],
  ['private use', '\ue000'],
  ['text of both directions', '\u05d0a\u05d0'],
  ['so long that it cannot be spread', 'a'.repeat(1_000_000)],
])('RFC 4013 sections 2.3 and 2.4: this text is refused: %s', (_, text) => {
  expect(saslprep(text)).toBeUndefined();
});

test('RFC 4013 section 2.1: all spaces become U+0020; section 2.5: a query may have unassigned code points', () => {
  expect(saslprep('a\u3000b\u00a0c')).toBe('a b c');
  expect(saslprep('\u{1f600}')).toBe('\u{1f600}');
});

test('RFC 4013: preparing a prepared string changes nothing, and no string throws', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const prepared = saslprep(text);
      if (prepared !== undefined) expect(saslprep(prepared)).toBe(prepared);
    }),
  );
});

import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { opaqueString, usernameCaseMapped } from './precis.ts';

const anyName = fc.oneof(anyText(), fc.string({ unit: 'grapheme' }), fc.string());

describe('RFC 8265 section 3: names', () => {
  test.each([
    ['juliet@example.com', 'juliet@example.com'],
    ['fussball', 'fussball'],
    ['fußball', 'fußball'],
    ['π', 'π'],
    ['Σ', 'σ'],
    ['Alice.O-Neil+x_1', 'alice.o-neil+x_1'],
    ['ＡＬＩＣＥ', 'alice'],
    ['ﬁona', 'fiona'],
    ['Jose\u0301', 'josé'],
    ['ॲक्ष', 'ॲक्ष'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ['𠮷'.repeat(64), '𠮷'.repeat(64)],
  ])('the name %j becomes %j', (name, mapped) => expect(usernameCaseMapped(name)).toBe(mapped));

  test.each([
    ['nothing', ''],
    ['a space', 'foo bar'],
    ['a symbol', '♚'],
    ['a line end', 'alice\n'],
    ['NUL', 'alice\0'],
    ['a mark at the beginning', '\u0301alice'],
    ['a character that cannot be seen', 'ali\u200bce'],
    ['text that reads backwards', '\u202ealice'],
    ['a lone surrogate', 'a\ud800'],
    ['a slash', '../alice'],
    ['a quote', `a'b`],
    ['65 characters', 'x'.repeat(65)],
    ['a flood', 'x'.repeat(1_000_000)],
  ])('the name is refused: %s', (_, name) => expect(usernameCaseMapped(name)).toBeUndefined());

  test('any typed text gives a name in one form, or undefined', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const mapped = usernameCaseMapped(name);
        if (mapped === undefined) return;
        expect(usernameCaseMapped(mapped)).toBe(mapped);
        expect(usernameCaseMapped(name.normalize('NFD'))).toBe(mapped);
        expect(mapped).not.toMatch(/[\s\p{C}/\\'"<>&]/u);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('RFC 8265 section 4: passwords', () => {
  test.each([
    ['correct horse battery staple', 'correct horse battery staple'],
    ['Correct Horse Battery Staple', 'Correct Horse Battery Staple'],
    ['πßå', 'πßå'],
    ['Jack of ♦s', 'Jack of ♦s'],
    ['foo\u1680bar', 'foo bar'],
    ['foo\u00a0bar', 'foo bar'],
    ['Jose\u0301', 'José'],
    [' kept ', ' kept '],
    ['ﬁ', 'ﬁ'],
  ])('the password %j becomes %j', (password, enforced) =>
    expect(opaqueString(password)).toBe(enforced),
  );

  test.each([
    ['nothing', ''],
    ['a tab', 'my cat is a \tby'],
    ['a line end', 'password\n'],
    ['NUL', 'pass\0word'],
    ['a lone surrogate', 'password\udfff'],
    ['an unassigned code point', 'password\u{e0080}'],
    ['1025 bytes', 'x'.repeat(1025)],
    ['1026 bytes in 513 characters', 'é'.repeat(513)],
    ['a flood', '\u0300\u0316'.repeat(1_000_000)],
  ])('the password is refused: %s', (_, password) =>
    expect(opaqueString(password)).toBeUndefined(),
  );

  test('any password works in each of its Unicode forms', () => {
    fc.assert(
      fc.property(anyName, (password) => {
        const enforced = opaqueString(password);
        if (enforced === undefined) return;
        expect(opaqueString(enforced)).toBe(enforced);
        expect(opaqueString(password.normalize('NFD'))).toBe(enforced);
      }),
      { numRuns: 2000 },
    );
  });
});

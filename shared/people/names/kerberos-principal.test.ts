import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isKerberosPrincipal } from './kerberos-principal.ts';

test.each([
  'alice@EXAMPLE.COM',
  'alice@example.com',
  'alice/admin@EXAMPLE.COM',
  'HTTP/www.example.com@EXAMPLE.COM',
  'alice.smith-1_2@A',
  'älice@BÜCHER.EXAMPLE',
  `${'a'.repeat(253)}@A`,
])('RFC 4120 section 6: %s is a principal', (principal) => {
  expect(isKerberosPrincipal(principal)).toBe(true);
});

test.each([
  ['nothing', ''],
  ['no realm', 'alice'],
  ['an empty realm', 'alice@'],
  ['no primary', '@EXAMPLE.COM'],
  ['an empty instance', 'alice/@EXAMPLE.COM'],
  ['no primary before an instance', '/admin@EXAMPLE.COM'],
  ['two instances', 'a/b/c@EXAMPLE.COM'],
  ['two realms', 'alice@EXAMPLE.COM@OTHER'],
  ['a realm within a realm', 'alice@A/B'],
  ['an escape', String.raw`alice\@x@EXAMPLE.COM`],
  ['a space', 'al ice@EXAMPLE.COM'],
  ['a line end', 'alice@EXAMPLE.COM\n'],
  ['NUL, where C ends a text', 'alice\0@EXAMPLE.COM'],
  ['an escape sequence', 'alice\u001b[2J@EXAMPLE.COM'],
  ['text that reads backwards', 'alice\u202e@EXAMPLE.COM'],
  ['256 characters', `${'a'.repeat(254)}@A`],
])('%s is no principal', (_, text) => expect(isKerberosPrincipal(text)).toBe(false));

/** A second implementation: one or two non-empty parts before the only @, and a realm after it. */
function naive(text: string): boolean {
  const [name = '', realm = '', ...more] = text.split('@');
  const parts = [...name.split('/'), realm];
  return (
    more.length === 0 &&
    text.length <= 255 &&
    parts.length <= 3 &&
    !realm.includes('/') &&
    parts.every((part) => part !== '') &&
    Array.from(text).every((one) => one !== '\\' && !/[\s\p{C}]/u.test(one))
  );
}

test('RFC 4120 section 6: any text is judged as the second implementation judges it', () => {
  const piece = fc.constantFrom('a', '@', '/', '\\', ' ', '\0', 'A.B', '\ud800', '\u00a0', 'ü');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((parts) => parts.join('')),
        fc.string(),
      ),
      (text) => {
        expect(isKerberosPrincipal(text)).toBe(naive(text));
      },
    ),
    { numRuns: 2000 },
  );
});

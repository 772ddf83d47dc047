import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { decodeBase64url, encodePadded } from './base64url.ts';

describe('RFC 9577 section 2.1.2: base64url with its padding', () => {
  test.each([
    ['', ''], // RFC 4648 section 10
    ['f', 'Zg=='],
    ['fo', 'Zm8='],
    ['foo', 'Zm9v'],
    ['foobar', 'Zm9vYmFy'],
    ['\xfb\xff\xfe', '-__-'],
  ])('%j is encoded as %j', (text, encoded) => {
    expect(encodePadded(Buffer.from(text, 'latin1'))).toBe(encoded);
    expect(decodeBase64url(encoded)?.toString('latin1')).toBe(text);
  });

  test('text without its padding is decoded, too', () => {
    expect(decodeBase64url('Zg')?.toString()).toBe('f');
    expect(decodeBase64url('Zm8')?.toString()).toBe('fo');
  });

  test.each([
    ['half the padding', 'Zg='],
    ['padding where there is none', 'Zm9v='],
    ['only padding', '=='],
    ['more padding', 'Zg==='],
    ['something behind the padding', 'Zg==Zg=='],
    ['the other alphabet', '+//+'],
    ['spare bits', 'Zh=='],
    ['spare bits without padding', 'Zh'],
    ['one character', 'Z'],
    ['a space', 'Zm 9v'],
    ['a line feed', 'Zm9v\n'],
    ['an octet beyond US-ASCII', 'Zm9\xf6'],
    ['a character whose low octet is a letter', 'Zm9\u0176'],
    ['NUL', 'Zm9v\0'],
  ])('refuses %s', (_, text) => expect(decodeBase64url(text)).toBeUndefined());

  test('all octets have one spelling with padding and one without', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const padded = encodePadded(bytes);
        expect(padded.length % 4).toBe(0);
        expect(decodeBase64url(padded)).toEqual(Buffer.from(bytes));
        expect(decodeBase64url(padded.replaceAll('=', ''))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test('decoding never throws, and accepts only these two spellings', () => {
    const text = fc.string({ unit: fc.constantFrom('A', 'g', '-', '_', '=', '+', '/', ' ', 'é') });
    fc.assert(
      fc.property(fc.oneof(text, anyText()), (given) => {
        const bytes = decodeBase64url(given);
        if (bytes === undefined) return;
        const padded = encodePadded(bytes);
        expect([padded, padded.replaceAll('=', '')]).toContain(given);
      }),
      { numRuns: 1000 },
    );
  });
});

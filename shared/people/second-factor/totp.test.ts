import { describe, expect, test } from '@jest/globals';
import { base32 } from './base32.ts';
import { otpauthUri } from './otpauth-uri.ts';
import { hotp, stepAt, stepOf } from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('one-time codes', () => {
  test('RFC 4226 appendix D: the secret gives its ten codes', () => {
    const codes = Array.from({ length: 10 }, (_, counter) => hotp(SECRET, counter));
    expect(codes).toEqual([
      '755224',
      '287082',
      '359152',
      '969429',
      '338314',
      '254676',
      '287922',
      '162583',
      '399871',
      '520489',
    ]);
  });

  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('RFC 6238 appendix B: at %d seconds the code of eight digits is %s', (seconds, code) => {
    const step = stepAt(seconds * 1000);
    expect(hotp(SECRET, step, 8)).toBe(code);
    expect(hotp(SECRET, step)).toBe(code.slice(2));
  });

  test('RFC 6238 section 5.2: the codes of the steps before and after now are accepted, no others', () => {
    const now = 1_800_000_015_000;
    for (const drift of [-2, -1, 0, 1, 2]) {
      const step = stepAt(now) + drift;
      const expected = Math.abs(drift) <= 1 ? step : undefined;
      expect(stepOf(SECRET, hotp(SECRET, step), now)).toBe(expected);
    }
  });

  test('codes of other lengths and of other secrets are refused', () => {
    const now = 1_800_000_015_000;
    const right = hotp(SECRET, stepAt(now));
    for (const code of [
      '',
      '0',
      `${right}0`,
      right.slice(1),
      hotp(Buffer.from('x'), stepAt(now)),
    ]) {
      expect(stepOf(SECRET, code, now)).toBeUndefined();
    }
    expect(stepOf(SECRET, hotp(SECRET, 0), 0)).toBe(0);
  });
});

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('RFC 4648 section 10, without padding: base32 of %j is %j', (plain, text) => {
  expect(base32(Buffer.from(plain))).toBe(text);
});

test('apps read secret, name and issuer from the URI', () => {
  const url = new URL(otpauthUri(SECRET, 'alice+1@example.com', 'Häuser & Söhne: intern'));
  expect([url.protocol, url.host]).toEqual(['otpauth:', 'totp']);
  expect(decodeURIComponent(url.pathname)).toBe('/Häuser & Söhne: intern:alice+1@example.com');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    issuer: 'Häuser & Söhne: intern',
  });
});

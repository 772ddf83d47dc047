import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseHttpDate } from './date.ts';

const NOW = Date.UTC(2026, 10, 20);
const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('RFC 9110 section 5.6.7: HTTP-date', () => {
  test.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', EXAMPLE],
    ['Sunday, 06-Nov-94 08:49:37 GMT', EXAMPLE],
    ['Sun Nov  6 08:49:37 1994', EXAMPLE],
    ['Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
    ['Thu, 29 Feb 2024 23:59:60 GMT', Date.UTC(2024, 2, 1)],
    ['Mon, 01 Jan 0001 00:00:00 GMT', -62_135_596_800_000],
  ])('the date %s is read', (value, time) => {
    expect(parseHttpDate(value, NOW)).toBe(time);
  });

  test.each([
    ['76', 2076],
    ['77', 1977],
    ['26', 2026],
    ['00', 2000],
    ['99', 1999],
  ])('the two-digit year %s is at most 50 years ahead: %i', (year, full) => {
    expect(parseHttpDate(`Sunday, 06-Nov-${year} 00:00:00 GMT`, NOW)).toBe(Date.UTC(full, 10, 6));
  });

  test.each([
    '',
    '0',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun,  06 Nov 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Tue, 29 Feb 2023 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Son, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
  ])('%j is no date', (value) => {
    expect(parseHttpDate(value, NOW)).toBeUndefined();
  });

  test('a date that toUTCString writes is read again', () => {
    const whole = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
    fc.assert(
      fc.property(whole, (seconds) => {
        expect(parseHttpDate(new Date(seconds * 1000).toUTCString(), NOW)).toBe(seconds * 1000);
      }),
    );
  });
});

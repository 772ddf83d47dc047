import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { LANGUAGES, languageOf } from './language.ts';

describe('languageOf (RFC 9110 section 12.5.4)', () => {
  test.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-ch', 'de'],
    ['fr', 'en'],
    ['fr, de;q=0.5', 'de'],
    ['en;q=0.5, de;q=0.8', 'de'],
    ['en;q=0.8, de;q=0.8', 'en'],
    ['de;q=0, en', 'en'],
    ['de;q=0', 'en'],
    ['*', 'en'],
    ['de ; q=0.9\t, *;q=0.1', 'de'],
    ['dee, den', 'en'],
    ['de;q=2, en;q=0.1', 'en'],
    ['de;q=0.1234, en;q=0.1', 'en'],
    ['de;q=, en;q=0.1', 'en'],
    ['de;level=1, en;q=0.1', 'en'],
    ['de_DE', 'en'],
    [',,;;q=1,,de', 'de'],
  ] as const)('the language for %s is %s', (field, language) => {
    expect(languageOf(field)).toBe(language);
  });

  test('ui_locales is used first, in its order (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
    expect(languageOf('en', 'fr de-AT en')).toBe('de');
    expect(languageOf('de', 'fr xx')).toBe('de');
    expect(languageOf('de', '')).toBe('de');
    expect(languageOf('de', '__proto__ constructor')).toBe('de');
  });

  test('any field gives a supported language', () => {
    const field = fc.string({ unit: fc.constantFrom(...'den-*;q=01., \t\0ß'.split('')) });
    fc.assert(
      fc.property(field, field, (acceptLanguage, uiLocales) => {
        expect(LANGUAGES).toContain(languageOf(acceptLanguage, uiLocales));
      }),
      { numRuns: 1000 },
    );
  });
});

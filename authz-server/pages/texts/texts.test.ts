import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { LANGUAGES } from '../view.ts';
import { languageOf, textsOf } from './index.ts';

interface Entry {
  readonly path: string;
  /** With `[0]`, `[1]`, ... for its parameters. */
  readonly text: string;
  readonly parameters: readonly string[];
}

function everyText(texts: object, above = ''): readonly Entry[] {
  return Object.entries(texts).flatMap(([key, value]: [string, unknown]) => {
    const path = `${above}/${key}`;
    if (typeof value === 'object' && value !== null) return everyText(value, path);
    if (typeof value !== 'function') return [{ path, text: String(value), parameters: [] }];
    const parameters = Array.from({ length: value.length }, (_, index) => `[${index}]`);
    return [{ path, text: String(Reflect.apply(value, undefined, parameters)), parameters }];
  });
}

describe('texts', () => {
  const english = everyText(textsOf('en'));

  test.each(LANGUAGES)(
    '%s has every text, none empty, with the same parameters, all used',
    (language) => {
      const own = everyText(textsOf(language));
      const shape = ({ path, parameters }: Entry) => ({ path, parameters });
      expect(own.map(shape)).toEqual(english.map(shape));
      for (const { path, text, parameters } of own) {
        expect([path, text.trim()]).not.toEqual([path, '']);
        expect([path, text.match(/\[\d\]/g)?.toSorted() ?? []]).toEqual([path, parameters]);
      }
    },
  );

  test('other languages are not English that was left over', () => {
    const german = everyText(textsOf('de')).map(({ text }) => text);
    const same = english.filter(({ text }, index) => german[index] === text);
    expect(same.map(({ path }) => path)).toEqual([
      '/signIn/name',
      '/deviceEntry/code',
      '/account/about/name',
    ]);
  });

  test('values in texts are escaped', () => {
    for (const language of LANGUAGES) {
      expect(String(textsOf(language).consent.lead('<b>'))).toContain('&lt;b&gt;');
    }
  });
});

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
  ] as const)('%s is %s', (field, language) => {
    expect(languageOf(field)).toBe(language);
  });

  test('ui_locales goes first, in its order (OpenID Connect Core 1.0 section 3.1.2.1)', () => {
    expect(languageOf('en', 'fr de-AT en')).toBe('de');
    expect(languageOf('de', 'fr xx')).toBe('de');
    expect(languageOf('de', '')).toBe('de');
    expect(languageOf('de', '__proto__ constructor')).toBe('de');
  });

  test('whatever is sent, there is a language', () => {
    const field = fc.string({ unit: fc.constantFrom(...'den-*;q=01., \t\0ß'.split('')) });
    fc.assert(
      fc.property(field, field, (acceptLanguage, uiLocales) => {
        expect(LANGUAGES).toContain(languageOf(acceptLanguage, uiLocales));
      }),
      { numRuns: 1000 },
    );
  });
});

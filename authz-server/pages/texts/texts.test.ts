import { describe, expect, test } from '@jest/globals';
import { LANGUAGES } from '#shared/pages/language.ts';
import { textsOf } from './index.ts';

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

/** Members of operations that are called the same in German. */
const SAME_IN_GERMAN =
  'pkce passkeys software_version agent link client person concealed hoba domain token status server worker'.split(
    ' ',
  );

describe('texts', () => {
  const english = everyText(textsOf('en'));

  test.each(LANGUAGES)(
    'language %s has every text, no empty text, and uses the same parameters',
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

  test('German texts differ from English texts, except for the listed words', () => {
    const german = everyText(textsOf('de')).map(({ text }) => text);
    const same = english.filter(({ text }, index) => german[index] === text);
    expect(same.map(({ path }) => path)).toEqual([
      '/signIn/name',
      '/rights/actions',
      '/deviceEntry/code',
      '/account/about/name',
      '/admin/find/person',
      '/admin/sections/passkeys',
      '/admin/overview/version',
      '/admin/groups/token/title',
      '/admin/groups/cache/title',
      '/admin/named/client show',
      '/admin/named/user show',
      ...SAME_IN_GERMAN.map((name) => `/admin/members/${name}`),
      '/activity/browser',
      '/passkeys/title',
    ]);
  });

  test('values in texts are escaped', () => {
    for (const language of LANGUAGES) {
      expect(String(textsOf(language).consent.lead('<b>'))).toContain('&lt;b&gt;');
    }
  });
});

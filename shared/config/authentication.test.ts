import { describe, expect, test } from '@jest/globals';
import { configSchema } from './schema.ts';
import { SPACE_RULES } from './space-rules.ts';
import { configWarnings } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);

const SPACE = { url: 'https://rs.example/a/', realm: 'a', schemes: ['DPoP', 'Bearer'] };
const parse = (authentication: unknown, more: object = {}) =>
  configSchema.safeParse({
    resource: 'https://rs.example',
    spaces: [{ ...SPACE, authentication, ...more }],
  });
const config = (authentication: unknown, more: object = {}) => {
  const { data, error } = parse(authentication, more);
  if (data === undefined) throw error;
  return data;
};
const mistakes = (authentication: unknown, more: object = {}) =>
  SPACE_RULES.flatMap(({ check }) => check(config(authentication, more), {})).map(
    ({ path, message }) => `${path} ${message}`,
  );

describe('authentication of a space', () => {
  test('may be one object or a list', () => {
    const rule = { acr: 'passkey', maxAge: 300, methods: ['DELETE'] };
    expect(config(rule).spaces[0]?.authentication).toEqual([rule]);
    const list = [rule, { acr: 'second-factor', methods: ['unsafe'] }];
    expect(config(list).spaces[0]?.authentication).toEqual(list);
    expect(mistakes(list)).toEqual([]);
  });

  test.each([
    ['asks for nothing', {}],
    ['methods alone', { methods: ['GET'] }],
    ['no methods', { acr: 'passkey', methods: [] }],
    ['an empty list', []],
    ['the level that everybody has', { acr: 'password' }],
    ['a level by its URN', { acr: 'urn:countersign:acr:passkey' }],
    ['a list of levels', { acr: ['passkey'] }],
    ['a time that nobody can meet', { maxAge: 0 }],
    ['a negative time', { maxAge: -1 }],
    ['a part of a second', { maxAge: 10.5 }],
    ['a time without an end', { maxAge: 1e12 }],
    ['a time in words', { maxAge: '300' }],
    ['a method in lower case', { acr: 'passkey', methods: ['delete'] }],
    ['an unknown member', { acr: 'passkey', scopes: ['a'] }],
  ])('%s is refused', (_what, authentication) => {
    expect(parse(authentication).success).toBe(false);
  });

  test('needs a scheme whose credentials show a sign-in', () => {
    const rule = { acr: 'passkey' };
    const schemes = ['Basic', 'API-Key'];
    expect(mistakes(rule, { schemes })).toEqual([
      expect.stringMatching(/^spaces\.0\.authentication lets nobody in: .*Bearer, DPoP or GNAP/),
    ]);
  });

  test('must not be weaker for writing than for reading', () => {
    const safe = { acr: 'passkey', methods: ['safe'] };
    expect(mistakes(safe)).toEqual([expect.stringContaining('names safe but not unsafe')]);
    expect(mistakes([safe, { maxAge: 60, methods: ['unsafe'] }])).toEqual([]);
    expect(mistakes([safe, { maxAge: 60 }])).toEqual([]);
  });

  test('is impossible for some schemes, of which `config check` warns', () => {
    const schemes = ['Bearer', 'Basic', 'Digest', 'API-Key'];
    const [warning] = configWarnings(config({ maxAge: 60 }, { schemes }), NOW);
    expect(warning).toMatchObject({
      path: 'spaces.0.authentication',
      message: expect.stringMatching(/^is never met by Basic, Digest, API-Key, whose credentials/),
    });
    expect(configWarnings(config({ maxAge: 60 }), NOW)).toEqual([]);
    expect(configWarnings(config(undefined, { schemes }), NOW)).toEqual([]);
  });
});

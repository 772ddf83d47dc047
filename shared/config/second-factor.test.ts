import { describe, expect, test } from '@jest/globals';
import { PASSWORD_ALONE } from '#shared/auth/schemes/list.ts';
import { configSchema } from './schema.ts';
import { SPACE_RULES } from './space-rules.ts';
import { configWarnings } from './warnings.ts';

const NOW = Date.UTC(2026, 0, 1);

const SPACE = { url: 'https://rs.example/a/', realm: 'a', schemes: ['Bearer', 'Basic'] };
const parse = (people: unknown, space: object = {}) =>
  configSchema.safeParse({
    resource: 'https://rs.example',
    people,
    spaces: [{ ...SPACE, ...space }],
  });
const config = (...given: Parameters<typeof parse>) => {
  const { data, error } = parse(...given);
  if (data === undefined) throw error;
  return data;
};

describe('people.secondFactor', () => {
  test('is optional; everybody or people of some groups may need one', () => {
    expect(config({}).people.secondFactor).toBe('optional');
    for (const secondFactor of ['off', 'optional', 'required', { required: ['staff'] }]) {
      expect(config({ secondFactor }).people.secondFactor).toEqual(secondFactor);
    }
  });

  test.each([
    ['a mode that is none', 'on'],
    ['a boolean', true],
    ['no groups', { required: [] }],
    ['an empty group', { required: [''] }],
    ['a group without a list', { required: 'staff' }],
    ['an unknown member', { required: ['staff'], optional: ['guests'] }],
  ])('%s is refused', (_what, secondFactor) => {
    expect(parse({ secondFactor }).success).toBe(false);
  });
});

describe('a space that asks for no second factor', () => {
  const NOT_ASKED = { secondFactor: 'not asked' };

  test('is one with a scheme of passwords', () => {
    const mistakes = (space: object) =>
      SPACE_RULES.flatMap(({ check }) => check(config({}, space), {})).map(({ path }) => path);
    expect(mistakes({ ...NOT_ASKED, schemes: ['Bearer', 'HOBA'] })).toEqual([
      'spaces.0.secondFactor',
    ]);
    for (const { name } of PASSWORD_ALONE) {
      expect(mistakes({ ...NOT_ASKED, schemes: ['Bearer', name] })).toEqual([]);
    }
    expect(PASSWORD_ALONE.map(({ name }) => name).toSorted()).toEqual([
      'Basic',
      'Digest',
      'Mutual',
      'Negotiate',
      'SCRAM-SHA-1',
      'SCRAM-SHA-256',
    ]);
  });

  test('says so in these words alone', () => {
    for (const secondFactor of ['off', 'optional', false, 'Not asked', null]) {
      expect(parse({}, { secondFactor }).success).toBe(false);
    }
  });

  test('`config check` says what it means', () => {
    expect(configWarnings(config({}, NOT_ASKED), NOW)).toEqual([
      {
        path: 'spaces.0.secondFactor',
        code: 'second-factor-not-asked',
        values: {},
        message: expect.stringContaining('whoever knows a password gets in here'),
      },
    ]);
    expect(configWarnings(config({}), NOW)).toEqual([]);
  });
});

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
  test('is "optional" by default, and may be required for everybody or for some groups', () => {
    expect(config({}).people.secondFactor).toBe('optional');
    for (const secondFactor of ['off', 'optional', 'required', { required: ['staff'] }]) {
      expect(config({ secondFactor }).people.secondFactor).toEqual(secondFactor);
    }
  });

  test.each([
    ['an invalid mode', 'on'],
    ['a boolean', true],
    ['no groups', { required: [] }],
    ['an empty group', { required: [''] }],
    ['a group without a list', { required: 'staff' }],
    ['an unknown member', { required: ['staff'], optional: ['guests'] }],
  ])('%s is refused', (_what, secondFactor) => {
    expect(parse({ secondFactor }).success).toBe(false);
  });
});

describe('the setting "secondFactor": "not asked" of a space', () => {
  const NOT_ASKED = { secondFactor: 'not asked' };

  test('needs a password scheme', () => {
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

  test('has no other spelling', () => {
    for (const secondFactor of ['off', 'optional', false, 'Not asked', null]) {
      expect(parse({}, { secondFactor }).success).toBe(false);
    }
  });

  test('gets a warning of `config check`', () => {
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

import { expect, test } from '@jest/globals';
import { setClient } from '#shared/operations/clients/client-set.ts';
import type { Operation } from '#shared/operations/operation.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { fieldsOf } from './members.ts';

const OPERATIONS: readonly (readonly [string, Pick<Operation, 'name' | 'effect' | 'input'>])[] = [
  ['client set', setClient],
  ['user set', setUser],
];

test.each(OPERATIONS)(
  '%s: in each language a box that clears a setting has the label of the field that sets it',
  (_, operation) => {
    for (const language of LANGUAGES) {
      const fields = fieldsOf(operation, new Map(), language);
      const labels = new Set(fields.map(({ label }) => label));
      const { options = [] } = fields.find(({ name }) => name === 'without') ?? {};
      expect(options.length).toBeGreaterThan(5);
      expect(options.filter(({ label }) => !labels.has(label))).toEqual([]);
      expect(new Set(options.map(({ label }) => label)).size).toBe(options.length);
    }
  },
);

test('a box that clears has the value of the option of the command line', () => {
  const fields = fieldsOf(setClient, new Map(), 'de');
  const { options } = fields.find(({ name }) => name === 'without') ?? {};
  expect(options).toContainEqual({
    value: 'claim',
    label: 'Was ihre Claims sagen, etwa role=admin if group admins',
  });
  expect(options).toContainEqual({
    value: 'allow-group',
    label: 'Gruppen, die sie verwenden dürfen',
  });
});

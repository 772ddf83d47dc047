import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import type { Operation } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { LANGUAGES } from '#shared/pages/language.ts';
import { groupWords, memberWord, operationWords } from '../texts/admin/words.ts';
import { groupOf } from './addresses.ts';
import { fieldsOf } from './members.ts';

/** Members that no page shows: those of every list, and those by which a page finds the words of a warning. */
const UNSHOWN: ReadonlySet<unknown> = new Set([
  'after',
  'limit',
  'items',
  'next',
  'code',
  'values',
]);

/** The names of all members that a JSON Schema describes. */
function namesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    const isShape = key === 'properties' && typeof value === 'object' && value !== null;
    return (isShape ? Object.keys(value) : []).concat(
      namesIn(isShape ? Object.values(value) : value),
    );
  });
}

/**
 * The operations whose pages are partly in English, in every language: nobody has put all that they show in words yet. A new
 * operation works without words, and stands here until it has some.
 */
const IN_ENGLISH: ReadonlySet<string> = new Set([]);

const OPERATION = { name: 'thing add', effect: 'changes' } as const;

const shownBy = ({ input, output }: Operation): readonly string[] => [
  ...new Set(
    namesIn([
      z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }),
      z.toJSONSchema(output, { unrepresentable: 'any' }),
    ]),
  ),
];

const WORDED = OPERATIONS.filter(({ name }) => !IN_ENGLISH.has(name));

describe.each(LANGUAGES)('in the language %s', (language) => {
  test.each(WORDED.map((operation) => [operation.name, operation] as const))(
    '%s is in words, and so is all that its page shows',
    (name, operation) => {
      const words = operationWords(language, name);
      expect(words).toMatchObject({ title: expect.any(String), text: expect.any(String) });
      expect(words?.done !== undefined).toBe(operation.effect === 'changes');
      expect(groupWords(language, groupOf(operation))).toBeDefined();
      const missing = shownBy(operation).filter(
        (member) => !UNSHOWN.has(member) && memberWord(language, member) === undefined,
      );
      expect(missing).toEqual([]);
    },
  );

  test('a member that nobody has put in words has its description, in English', () => {
    const input = z.strictObject({ some_member: z.string().describe('what it is for') });
    const [field] = fieldsOf({ ...OPERATION, input }, new Map(), language);
    expect(field).toMatchObject({ label: 'what it is for', isEnglish: true });
    const [known] = fieldsOf(
      { ...OPERATION, input: z.strictObject({ name: z.string() }) },
      new Map(),
      language,
    );
    expect(known).toMatchObject({ label: memberWord(language, 'name') });
    expect(known).not.toHaveProperty('isEnglish');
  });
});

describe('a choice that is left open', () => {
  const input = z.strictObject({
    flag: z.boolean().exactOptional(),
    off: z.boolean().default(false),
    on: z.boolean().default(true),
  });
  test.each([
    [{ name: 'thing add', effect: 'changes' }, 'Default'],
    [{ name: 'thing set', effect: 'changes' }, 'As it is'],
    [{ name: 'thing list', effect: 'reads' }, 'Any'],
  ] as const)('in the form of %j is called %s', (operation, label) => {
    const fields = fieldsOf({ ...operation, input }, new Map(), 'en');
    expect(fields.map(({ options }) => options.map((option) => option.label))).toEqual([
      [label, 'No', 'Yes'],
      ['No', 'Yes'],
      ['Yes', 'No'],
    ]);
  });
});

test('no operation has a member that a form uses for itself', () => {
  const own = OPERATIONS.flatMap(({ input }) => Object.keys(input.shape)).filter((name) =>
    ['csrf', 'once'].includes(name),
  );
  expect(own).toEqual([]);
});

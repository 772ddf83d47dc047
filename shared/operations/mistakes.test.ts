import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { InputError, readInput } from './operation.ts';
import { OPERATIONS } from './operations.ts';

const LONG = 'x'.repeat(100_000);
const VALUES = [
  undefined,
  null,
  true,
  -1,
  1.5,
  1e9,
  '',
  LONG,
  '\u0000',
  'http://[',
  {},
  { keys: [] },
  { keys: [{ kty: 'x' }] },
  [],
  [1],
  [''],
  [LONG],
  [{}],
  ['a', 'a'],
  [{ address: 'x' }, { address: LONG, verified: 1 }],
  Array.from({ length: 2000 }, (_, index) => `x${index}`),
];

/** Returns the code of the mistake in a value; undefined if the schema accepts the value. */
function codeOf(schema: z.ZodType, value: unknown): string | undefined {
  try {
    readInput({ input: z.strictObject({ member: schema }) }, { member: value });
    return undefined;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.words.code;
  }
}

test('each mistake in a member of an operation has a code', () => {
  const codes = OPERATIONS.flatMap(({ input, name }) =>
    Object.entries(input.shape).flatMap(([member, schema]) =>
      VALUES.map((value) => [codeOf(schema as z.ZodType, value), `${name} ${member}`] as const),
    ),
  );
  expect(codes.filter(([code]) => code === 'other')).toEqual([]);
  expect(new Set(codes.map(([code]) => code)).size).toBeGreaterThan(20);
});

test.each([
  ['invalid_format', z.email(), 'x'],
  ['not_multiple_of', z.number().multipleOf(2), 1],
  ['invalid_union', z.union([z.string(), z.number()]), true],
  ['invalid_key', z.record(z.string().min(2), z.string()), { a: 'b' }],
  ['custom', z.string().refine(() => false), 'x'],
  ['custom', z.string().refine(() => false, 'is said in words alone'), 'x'],
])(
  'no operation has the mistake %s without a text of its own, which would be `other`',
  (issue, schema, value) => {
    expect(codeOf(schema, value)).toBe('other');
    expect(issue).toMatch(/^[a-z_]+$/);
  },
);

import type * as z from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  string: 'text in quotation marks',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list in brackets, as in ["a"]',
  object: 'an object in braces, as in {"name": "value"}',
  record: 'an object in braces, as in {"name": "value"}',
};

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'a range of IPv4 addresses such as 192.0.2.0/24',
  cidrv6: 'a range of IPv6 addresses such as 2001:db8::/32',
};

const UNITS: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'entries',
  object: 'members',
};

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const WORDS: {
  readonly [Code in Issue['code']]?: (issue: Extract<Issue, { code: Code }>) => string;
} = {
  invalid_type: ({ expected, input }) =>
    `${input === undefined ? 'is missing: it ' : ''}must be ${KINDS[expected] ?? expected}`,
  invalid_value: ({ values }) => `must be ${listed(values)}`,
  invalid_format: ({ format }) => `must be ${FORMATS[format] ?? format}`,
  too_small: ({ origin, inclusive, minimum }) =>
    `must ${sized(origin, `${inclusive ? 'at least' : 'more than'} ${minimum}`)}`,
  unrecognized_keys: ({ keys }) => `has what nothing reads: remove ${keys.join(', ')}`,
  too_big: ({ origin, inclusive, maximum }) =>
    `must ${sized(origin, `${inclusive ? 'at most' : 'less than'} ${maximum}`)}`,
};

/**
 * Returns a message that says what to write instead of a wrong value, if the schema has no message itself. It never
 * repeats the value, which may be a secret.
 */
export const issueWords: z.core.$ZodErrorMap = (issue) => {
  // The issue is about the discriminator of a union.
  if (Array.isArray(issue['options'])) return `must be ${listed(issue['options'])}`;
  const words = WORDS[issue.code] as ((issue: Issue) => string) | undefined;
  return words?.(issue);
};

const sized = (origin: string, limit: string) =>
  origin in UNITS ? `have ${limit} ${UNITS[origin]}` : `be ${limit}`;

function listed(values: readonly unknown[]): string {
  const names = values.map((value) => JSON.stringify(value)).join(', ');
  return values.length > 1 ? `one of ${names}` : names;
}

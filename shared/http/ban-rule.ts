import * as z from 'zod';
import { issueWords } from '#shared/base/issue-words.ts';
import { fault } from '#shared/refusals/fault.ts';
import { said } from '#shared/refusals/operations.ts';
import { BadRequest } from './fields.ts';
import { type Member, parseDictionary } from './structured-fields.ts';

/** The most wildcards in a path, since the server searches each target for each wildcard. */
const WILDCARDS = 16;

const STATUS = fault(said('ban-status'));

/** The members of a BAN. */
export const banMembers = z.strictObject(
  {
    path: z
      .string(fault(said('quoted')))
      .regex(/^[/*][!-"$-~]{0,2047}$/, fault(said('ban-path')))
      .refine(
        (path) => path.split('*').length <= WILDCARDS + 1,
        fault(said('ban-wildcards', { most: WILDCARDS })),
      )
      .optional(),
    tag: z
      .string(fault(said('quoted')))
      .regex(/^[!-~]{1,256}$/, fault(said('ban-tag')))
      .optional(),
    status: z
      .union([z.int(), z.string()], STATUS)
      .transform(String)
      .refine((status) => /^[1-5](?:xx|[0-9]{2})$/.test(status), STATUS)
      .optional(),
  },
  { error: unknownMember },
);

const named = { error: 'needs path, tag or status' };
const rule = banMembers.refine((given) => Object.keys(given).length > 0, named);

/** The rule of a BAN, which removes the stored answers that match all members of the rule. */
export type BanRule = z.infer<typeof rule>;

export interface Ban {
  readonly rule: BanRule;
  /** True if the answers become stale instead of being removed. */
  readonly soft: boolean;
}

const schema = banMembers
  .extend({ soft: z.boolean().default(false) })
  .transform(({ soft, ...given }, context): Ban => {
    if (Object.keys(given).length === 0) context.addIssue({ code: 'custom', message: named.error });
    return { rule: given, soft };
  });

/** The default message of the library does not fit into a sentence. */
function unknownMember(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === 'unrecognized_keys'
    ? `has the unknown member ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
    : undefined;
}

/** Returns a ban from its members in JSON. Throws `BadRequest` with the mistake. */
export function toBan(given: unknown): Ban {
  const { data, error } = schema.safeParse(given, { error: issueWords });
  if (data !== undefined) return data;
  const mistakes = error.issues.map(({ path, message }) => [...path, message].join(' '));
  throw new BadRequest(`The ban ${mistakes.join(', and ')}.`);
}

/** Parses the lines of a field `Ban`, a Dictionary (RFC 8941 section 3.2). Throws `BadRequest`. */
export function parseBan(lines: readonly string[]): Ban {
  const dictionary = parseDictionary(lines.join(', '));
  if (dictionary === undefined) {
    throw new BadRequest('Ban is no Dictionary (RFC 8941 section 3.2), such as path="/a/*", soft.');
  }
  return toBan(Object.fromEntries([...dictionary].map(([key, member]) => [key, plain(member)])));
}

/** Returns the value, or null for a token or a value with parameters: ignoring parameters would widen the ban. */
function plain({ type, value, params }: Member): unknown {
  return params.size === 0 && type !== 'token' ? value : null;
}

/** Returns a stored rule; undefined if this version cannot read it. */
export function readRule(value: string): BanRule | undefined {
  try {
    return rule.safeParse(JSON.parse(value)).data;
  } catch {
    return undefined;
  }
}

/** Returns the rule as text for people, in the syntax of the field. */
export function ruleText({ path, tag, status }: BanRule): string {
  return Object.entries({ path, tag, status })
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`))
    .join(' ');
}

import * as z from 'zod';
import { issueWords } from '#shared/base/issue-words.ts';
import { parseStrictJson, StrictJsonError } from '#shared/base/strict-json.ts';
import { HASH_METHODS } from '#shared/gnap/interaction-hash.ts';
import { isVisibleName } from '#shared/people/names/visible-name.ts';
import { GnapError } from './gnap-error.ts';

/** The most tokens of a request, and the most rights of a token. */
const MOST_TOKENS = 10;
const MOST_RIGHTS = 20;
const LONGEST = 1024;
const MOST_WORDS = 50;
/** The most characters of JSON of all rights of a token; the token contains them. */
const LONGEST_ACCESS = 2048;

/** Text that a person may be shown: no character of it is invisible, or reverses the text around it. */
const text = z
  .string()
  .min(1)
  .max(LONGEST)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'has characters that nobody sees');
const words = z.array(text).max(MOST_WORDS);

/** RFC 9635 section 8. Other members are refused, since no part of this server could enforce them. */
const accessObject = z.strictObject({
  type: text,
  actions: words.min(1),
  locations: words.optional(),
  datatypes: words.optional(),
  identifier: text.optional(),
  privileges: words.optional(),
});

const tokenRequest = z.object({
  access: z
    .array(z.union([text, accessObject]))
    .min(1)
    .max(MOST_RIGHTS)
    .refine((access) => JSON.stringify(access).length <= LONGEST_ACCESS, {
      error: `has more than ${LONGEST_ACCESS} characters: ask for several tokens`,
    }),
  label: text.max(64).optional(),
  flags: z.array(text).max(10).default([]),
});

const subject = z.object({
  sub_id_formats: words.default([]),
  assertion_formats: words.default([]),
});

const asciiText = z.string().regex(/^[!-~]{1,256}$/, 'must be 1 to 256 visible ASCII characters');

const finish = z.object({
  method: z.string(),
  uri: text.max(2048),
  nonce: asciiText,
  hash_method: z.enum(HASH_METHODS as [(typeof HASH_METHODS)[number]]).default('sha-256'),
});

const interact = z.object({
  start: z.array(z.union([z.string(), z.object({ mode: z.string() })])).max(MOST_WORDS),
  finish: finish.optional(),
  hints: z.object({ ui_locales: words.optional() }).optional(),
});

const user = z.union([
  z.string(),
  z.object({
    sub_ids: z.array(z.record(z.string(), z.unknown())).max(10).optional(),
    assertions: z
      .array(z.object({ format: text, value: z.string() }))
      .max(10)
      .optional(),
  }),
]);

/** The part of a request that a client may send again in order to modify its grant (RFC 9635 section 5.3). */
const modification = z.object({
  access_token: z.union([tokenRequest, z.array(tokenRequest).min(1).max(MOST_TOKENS)]).optional(),
  subject: subject.optional(),
  interact: interact.optional(),
  user: user.optional(),
});

const name = z
  .string()
  .refine(isVisibleName, { error: 'must be 1 to 100 characters, none of them invisible' });

const request = modification.extend({
  client: z.union([
    text,
    z.object({
      key: z.unknown(),
      display: z.object({ name: name.optional() }).optional(),
    }),
  ]),
});

const continuation = z.object({ interact_ref: text.optional() });

const introspection = z.object({
  access_token: z.string(),
  proof: z.unknown().optional(),
  resource_server: z.union([text, z.object({ key: z.unknown() })]),
  access: z.array(z.union([text, z.record(z.string(), z.unknown())])).optional(),
});

const rotation = z.object({ key: z.unknown().optional() });

export type AccessObject = z.infer<typeof accessObject>;
/** A right that a client asks for: a reference, or an object (RFC 9635 section 8). */
export type AskedAccess = string | AccessObject;
export type TokenRequest = z.infer<typeof tokenRequest>;
export type SubjectRequest = z.infer<typeof subject>;
export type InteractRequest = z.infer<typeof interact>;
export type UserHint = z.infer<typeof user>;
/** A grant request (RFC 9635 section 2). */
export type GrantRequest = z.infer<typeof request>;
export type Modification = z.infer<typeof modification>;

/** The schemas of requests to the endpoints, by purpose. */
export const CONTENTS = { request, modification, continuation, rotation, introspection } as const;

/** Reads JSON content. Throws `GnapError` with the first mistake if it does not match the schema. */
export function readContent<Schema extends z.ZodType>(
  schema: Schema,
  content: Buffer,
): z.infer<Schema> {
  const checked = schema.safeParse(parseJson(content), { error: issueWords });
  if (checked.success) return checked.data;
  throw new GnapError('invalid_request', mistakeIn(checked.error.issues));
}

/** Describes the first mistake. If several forms are possible, the mistake is in the form that fits best. */
function mistakeIn(
  issues: readonly z.core.$ZodIssue[],
  above: readonly PropertyKey[] = [],
): string {
  const [issue] = issues;
  if (issue === undefined) return 'the content is malformed';
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    const depth = (form: readonly z.core.$ZodIssue[]) => form[0]?.path.length ?? 0;
    const [best] = issue.errors.toSorted((a, b) => depth(b) - depth(a));
    const isObject = issue.errors.find((form) => form[0]?.code !== 'invalid_type');
    const form = best && depth(best) > 0 ? best : isObject;
    if (form !== undefined) return mistakeIn(form, path);
  }
  return `${path.join('.') || 'the content'}: ${issue.message}`;
}

function parseJson(content: Buffer): unknown {
  try {
    return parseStrictJson(content);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const { path, message } = error;
    if (path.length === 0)
      throw new GnapError('invalid_request', 'the content is not JSON in UTF-8');
    throw new GnapError('invalid_request', `${path.join('.')}: ${message}`);
  }
}

/** Returns the tokens that a request asks for. A single token has a label only if its client gives it one. */
export function tokensOf({ access_token: asked }: Modification): readonly TokenRequest[] {
  if (asked === undefined) return [];
  const tokens = [asked].flat();
  for (const { flags } of tokens) {
    if (new Set(flags).size < flags.length) throw new GnapError('invalid_flag', 'a flag is twice');
    const unknown = flags.find((flag) => flag !== 'bearer');
    if (unknown !== undefined) {
      throw new GnapError('invalid_flag', 'bearer is the only flag that is known here');
    }
  }
  if (Array.isArray(asked)) {
    const labels = new Set(tokens.map(({ label }) => label));
    if (labels.has(undefined) || labels.size < tokens.length) {
      throw new GnapError('invalid_request', 'each of several tokens needs a label of its own');
    }
  }
  return tokens;
}

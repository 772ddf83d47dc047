import * as z from 'zod';
import { type ClaimRule, formatRule, isRule, parseRule } from '#shared/people/claim-rules.ts';
import { fault } from '#shared/refusals/fault.ts';
import { said } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';

const MOST = 64;

/** The most octets of all claims by rule together, since tokens are sent in fields of requests. */
const OCTETS = 8192;

/** The most octets of a member of a person in JSON, without escapes (`profileSchema`). */
const MEMBER_OCTETS = { email: 256, name: 402, username: 258, groups: 4400 };
const ATTRIBUTE_OCTETS = 258;

type Context = z.core.$RefinementCtx;

const refuse = (context: Context, words: Words, path: number[] = []) =>
  context.addIssue({ code: 'custom', message: words.message, words, path });

const rule = z.string().transform((text, context) => {
  const parsed = parseRule(text);
  if (isRule(parsed)) return parsed;
  refuse(context, parsed);
  return z.NEVER;
});

/** The rules of a client for claims, in the form of `formatRule`. */
export const claimRules = z
  .array(rule)
  .min(1, fault(said('too-few', { least: 1 })))
  .max(MOST, fault(said('too-many', { most: MOST })))
  .superRefine(checkTogether)
  .transform((rules) => rules.map(formatRule));

/** Refuses a rule that never counts, and rules whose claims can be too long together. */
function checkTogether(rules: readonly ClaimRule[], context: Context): void {
  const certain = new Set<string>();
  const longest = new Map<string, number>();
  for (const [at, { claim, value, condition }] of rules.entries()) {
    if (certain.has(claim)) refuse(context, said('claim-after', { claim }), [at]);
    if (condition === undefined && 'text' in value) certain.add(claim);
    longest.set(claim, Math.max(longest.get(claim) ?? 0, octetsOf(value)));
  }
  const octets = [...longest].reduce((sum, [claim, most]) => sum + claim.length + 4 + most, 0);
  if (octets > OCTETS) refuse(context, said('too-many-octets', { most: OCTETS }));
}

function octetsOf(value: ClaimRule['value']): number {
  if ('text' in value) return Buffer.byteLength(JSON.stringify(value.text));
  return 'member' in value ? MEMBER_OCTETS[value.member] : ATTRIBUTE_OCTETS;
}

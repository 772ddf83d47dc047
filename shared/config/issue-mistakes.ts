import type * as z from 'zod';
import type { Mistake } from '#shared/base/mistake.ts';
import { nearest } from '#shared/base/nearest.ts';

type Issue = z.core.$ZodIssue;

/** Returns the names that members at a path may have. */
type Known = (path: readonly PropertyKey[]) => readonly string[];

/**
 * Returns the mistakes that an issue of the schema means for the author of the file. `above`: the path of the value
 * that has the issue.
 */
export function issueMistakes(
  issue: Issue,
  known: Known,
  above: readonly PropertyKey[] = [],
): Mistake[] {
  const at = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...at, key].join('.'),
      message: faultOf(key, known(at)),
    }));
  }
  const path = at.join('.');
  if (issue.code === 'invalid_key') {
    return [{ path, message: issue.issues.map(({ message }) => message).join(', ') }];
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const [meant] = issue.errors
      .filter((issues) => !issues.some(isAnotherKind))
      .toSorted((a, b) => strangersIn(a) - strangersIn(b));
    return meant === undefined
      ? [{ path, message: everyWay(issue.errors) }]
      : meant.flatMap((inner) => issueMistakes(inner, known, at));
  }
  return [{ path, message: issue.message }];
}

/** Says what is wrong with an unknown member, whose name may belong to another member of the union. */
function faultOf(name: string, known: readonly string[]): string {
  if (known.includes(name)) return 'does not go with the other settings here: remove it';
  return `is not a setting: remove it, or ${remedy(name, known)}`;
}

function remedy(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? 'correct its name' : `did you mean ${meant}?`;
}

/** Codes of issues that say that a value is of another type than expected. */
const OTHER_KINDS: ReadonlySet<Issue['code']> = new Set([
  'invalid_type',
  'invalid_value',
  'invalid_format',
]);

/**
 * True if the value does not even fit the type of this member of a union. If false, the author meant this member, and
 * made a mistake within it.
 */
const isAnotherKind = ({ path, code }: Issue) => path.length === 0 && OTHER_KINDS.has(code);

/**
 * Counts the value's members that this member of a union does not know. The fewer, the more probably the author meant
 * it.
 */
const strangersIn = (issues: readonly Issue[]): number =>
  issues.reduce((sum, one) => sum + (one.code === 'unrecognized_keys' ? one.keys.length : 0), 0);

/** Lists every allowed form, for a value that fits no member of the union. */
function everyWay(errors: readonly (readonly Issue[])[]): string {
  const ways = errors.flatMap((issues) =>
    issues.filter(({ path }) => path.length === 0).map(({ message }) => message),
  );
  return [...new Set(ways)].join(' or ').replaceAll(' or must be ', ' or ');
}

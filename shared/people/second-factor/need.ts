import type { SecondFactors } from '#shared/stores/credentials/second-factors.ts';
import { satisfying } from '../access/assurance.ts';
import type { Person } from '../directory.ts';

/** The setting `people.secondFactor`. */
export type SecondFactorRule =
  | 'off'
  | 'optional'
  | 'required'
  | { readonly required: readonly string[] };

const SUFFICIENT: ReadonlySet<string> = new Set(satisfying('urn:countersign:acr:second-factor'));

/** Returns whether the operator requires a second factor of a person in these groups. */
export function mustHaveSecondFactor(
  rule: SecondFactorRule,
  groups: readonly string[] = [],
): boolean {
  if (typeof rule === 'string') return rule === 'required';
  return rule.required.some((group) => groups.includes(group));
}

/** Returns whether a sign-in of this kind is enough; an unknown kind is treated like a password. */
export const isEnough = (
  rule: SecondFactorRule,
  groups: readonly string[] | undefined,
  acr = '',
): boolean => SUFFICIENT.has(acr) || !mustHaveSecondFactor(rule, groups);

/** An id that no person has. It is looked up if the person does not exist, so that the work is equal. */
const NOBODY = '(nobody)';

/** Returns whether a password alone is enough for a person: they need no second factor and have not set one up. */
export async function isPasswordEnough(
  rule: SecondFactorRule,
  secondFactors: Pick<SecondFactors, 'get'>,
  person: Person | undefined,
): Promise<boolean> {
  if (rule === 'off') return person !== undefined;
  const factor = await secondFactors.get(person?.id ?? NOBODY);
  const demanded = mustHaveSecondFactor(rule, person?.profile?.groups);
  return person !== undefined && factor === undefined && !demanded;
}

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

/** Whether the operator demands a second factor of a person in these groups. */
export function mustHaveSecondFactor(
  rule: SecondFactorRule,
  groups: readonly string[] = [],
): boolean {
  if (typeof rule === 'string') return rule === 'required';
  return rule.required.some((group) => groups.includes(group));
}

/** Whether a sign-in of this kind lets a person go on; one of no known kind counts as by a password. */
export const isEnough = (
  rule: SecondFactorRule,
  groups: readonly string[] | undefined,
  acr = '',
): boolean => SUFFICIENT.has(acr) || !mustHaveSecondFactor(rule, groups);

/** An id that nobody has. It is looked up where there is no person, so that the work is equal. */
const NOBODY = '(nobody)';

/** Whether a password alone lets a person in: they need no second factor and have set none up. */
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

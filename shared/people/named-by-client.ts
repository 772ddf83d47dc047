import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { People } from '#shared/stores/people/people.ts';
import { isRule, parseRule } from './claim-rules.ts';

type Ruled = Pick<ClientRecord, 'allow_groups' | 'allow_people' | 'claim_rules'>;

/** Returns the groups that rules of a client name, with the option of `client set` that sets the rule. */
export const groupsOf = ({ allow_groups: groups = [], claim_rules: rules }: Ruled) => [
  ...groups.map((group) => ({ option: '--allow-group', group })),
  ...conditionsOf(rules).flatMap((one) =>
    'group' in one ? [{ option: '--claim', group: one.group }] : [],
  ),
];

/** Resolves to the names in rules of a client that no person has. */
export async function namesOfNobody(
  { allow_people: names = [], claim_rules: rules }: Ruled,
  people: Pick<People, 'getByName'>,
): Promise<readonly string[]> {
  const ruled = conditionsOf(rules).flatMap((one) => ('person' in one ? [one.person] : []));
  const missing: string[] = [];
  for (const name of new Set([...names, ...ruled])) {
    if ((await people.getByName(name)) === undefined) missing.push(name);
  }
  return missing;
}

const conditionsOf = (rules: readonly string[] = []) =>
  rules
    .map(parseRule)
    .filter(isRule)
    .flatMap(({ condition }) => condition ?? []);

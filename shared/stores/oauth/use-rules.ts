import { acrOf, satisfying } from '#shared/jose/acr.ts';
import type { ClientRecord } from './clients.ts';

/** The members of a client that say who may use it, and after which sign-in. */
export type UseRules = Pick<ClientRecord, 'allow_groups' | 'allow_people' | 'minimum_acr'>;

/** The members of a person that rules read. */
interface Ruled {
  readonly name: string;
  readonly profile?: { readonly groups?: readonly string[] };
}

const textOf = ({ allow_groups, allow_people, minimum_acr }: UseRules) =>
  JSON.stringify([allow_groups, allow_people, minimum_acr]);

export const hasRules = (client: UseRules): boolean => textOf(client) !== textOf({});

/** Whether a change of the rules may forbid a client to a person who could use it. `was` absent: it is not known. */
export const narrows = (client: UseRules, was: UseRules = {}): boolean =>
  hasRules(client) && textOf(client) !== textOf(was);

/** Whether a client is for this person. A client without rules is for everybody. */
export function isFor(
  { allow_groups: groups, allow_people: people }: UseRules,
  { name, profile }: Ruled,
): boolean {
  if (groups === undefined && people === undefined) return true;
  const own = new Set(profile?.groups);
  return people?.includes(name) === true || groups?.some((group) => own.has(group)) === true;
}

/** Whether a person may use a client after a sign-in of this kind. */
export const mayUse = (client: UseRules, person: Ruled, acr: string | undefined): boolean =>
  isFor(client, person) && isStrongEnough(client, acr);

const isStrongEnough = ({ minimum_acr: least }: UseRules, acr: string | undefined): boolean =>
  least === undefined || satisfying(acrOf(least)).some((one) => one === acr);

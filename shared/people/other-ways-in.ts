import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { Admitted } from './active.ts';
import { identitiesOf } from './names/aliases.ts';

/** Returns whether a record alone lets its person in: it has a password or an account at a configured source. */
export const hasWayIn = (person: PersonRecord, { sources }: Pick<Admitted, 'sources'>): boolean =>
  person.password_hash !== undefined ||
  identitiesOf(person).some(({ source }) => sources.has(source));

/**
 * Returns whether a person can sign in without a passkey: with a password, a key for HOBA or Concealed, or an account
 * at a configured source.
 */
export async function hasOtherWayIn(
  { people, publicKeys }: Pick<Stores, 'people' | 'publicKeys'>,
  admitted: Pick<Admitted, 'sources'>,
  accountId: string,
): Promise<boolean> {
  const [person, keys] = await Promise.all([
    people.get(accountId),
    publicKeys.of({ kind: 'person', id: accountId }),
  ]);
  return person !== undefined && (keys.length > 0 || hasWayIn(person, admitted));
}

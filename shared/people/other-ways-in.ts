import type { Stores } from '#shared/stores/stores.ts';
import type { Admitted } from './active.ts';
import { identitiesOf } from './names/aliases.ts';

/**
 * Returns whether a person can sign in without a passkey: with a password, a key for HOBA or Concealed, or an account
 * at a configured source. `except`: a source that does not count.
 */
export async function hasOtherWayIn(
  { people, publicKeys }: Pick<Stores, 'people' | 'publicKeys'>,
  { sources }: Pick<Admitted, 'sources'>,
  accountId: string,
  except?: string,
): Promise<boolean> {
  const [person, keys] = await Promise.all([
    people.get(accountId),
    publicKeys.of({ kind: 'person', id: accountId }),
  ]);
  const isOpen = ({ source }: { readonly source: string }) =>
    source !== except && sources.has(source);
  return (
    person !== undefined &&
    (person.password_hash !== undefined || keys.length > 0 || identitiesOf(person).some(isOpen))
  );
}

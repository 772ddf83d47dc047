import type { Stores } from '#shared/stores/stores.ts';

/** Returns whether a person can sign in without a passkey: with a password, or with a key for HOBA or Concealed. */
export async function hasOtherWayIn(
  { people, publicKeys }: Pick<Stores, 'people' | 'publicKeys'>,
  accountId: string,
): Promise<boolean> {
  const [person, keys] = await Promise.all([
    people.get(accountId),
    publicKeys.of({ kind: 'person', id: accountId }),
  ]);
  return person?.password_hash !== undefined || keys.length > 0;
}

import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';

/** Returns the lines about the keys of a person whose other access has ended: the keys stay. */
export async function keysLeft(
  publicKeys: Pick<PublicKeys, 'of'>,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<readonly string[]> {
  const { length } = await publicKeys.of({ kind: 'person', id });
  if (length === 0) return [];
  const keys = length === 1 ? '1 key still lets' : `${length} keys still let`;
  return [`${keys} ${name} in: see user key list, user key remove.`];
}

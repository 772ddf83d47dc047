import type { Stores } from '#shared/stores/stores.ts';

/** Returns the lines about the keys and passkeys of a person whose other access has ended: they stay. */
export async function keysLeft(
  { publicKeys, passkeys }: Pick<Stores, 'publicKeys' | 'passkeys'>,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<readonly string[]> {
  const left = [
    ['passkey', (await passkeys.of(id)).length],
    ['key', (await publicKeys.of({ kind: 'person', id })).length],
  ] as const;
  return left.flatMap(([what, count]) => {
    if (count === 0) return [];
    const still = count === 1 ? `1 ${what} still lets` : `${count} ${what}s still let`;
    return [`${still} ${name} in: see user ${what} list, user ${what} remove.`];
  });
}

import type * as z from 'zod';
import type { Told } from '#shared/operations/operation.ts';
import type { keysLeftShown } from '#shared/operations/people/keys-left.ts';

type KeysLeft = Told<z.ZodObject<typeof keysLeftShown>> & { readonly name: string };

/** Returns the lines about the keys and passkeys that a person keeps after all other access has ended. */
export function keysLeftLines({
  name,
  passkeys_left = 0,
  keys_left = 0,
}: KeysLeft): readonly string[] {
  const left = [
    ['passkey', passkeys_left],
    ['key', keys_left],
  ] as const;
  return left.flatMap(([what, count]) => {
    if (count === 0) return [];
    const still = count === 1 ? `1 ${what} still lets` : `${count} ${what}s still let`;
    return [`${still} ${name} in: see user ${what} list, user ${what} remove.`];
  });
}

import * as z from 'zod';
import type { Stores } from '#shared/stores/stores.ts';

/** The members that say which keys still authenticate a person after all other access has ended. */
export const keysLeftShown = {
  passkeys_left: z
    .int()
    .exactOptional()
    .describe('number of passkeys with which the person can still sign in'),
  keys_left: z
    .int()
    .exactOptional()
    .describe('number of keys with which the person can still sign in'),
};

/** Counts the keys and passkeys of a person whose other access has ended, since these stay valid. */
export async function keysLeft(
  { publicKeys, passkeys }: Pick<Stores, 'publicKeys' | 'passkeys'>,
  id: string,
): Promise<{ readonly passkeys_left?: number; readonly keys_left?: number }> {
  const passkeys_left = (await passkeys.of(id)).length;
  const keys_left = (await publicKeys.of({ kind: 'person', id })).length;
  return { ...(passkeys_left > 0 && { passkeys_left }), ...(keys_left > 0 && { keys_left }) };
}

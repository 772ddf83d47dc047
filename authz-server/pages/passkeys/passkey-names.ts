import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';

type Named = Pick<PasskeyRecord, 'id' | 'name'>;

/** Folds a name, so that names which people would confuse become equal. */
const folded = (name: string) => name.normalize('NFKC').toLowerCase();

/** Whether a passkey has this name, ignoring upper and lower case. `besides`: the id of a passkey that may have it. */
export const isNameTaken = (passkeys: readonly Named[], name: string, besides?: string): boolean =>
  passkeys.some((passkey) => passkey.id !== besides && folded(passkey.name) === folded(name));

/** Returns the name, with a number if it is taken. */
export function freeName(passkeys: readonly Named[], name: string): string {
  let free = name;
  for (let number = 2; isNameTaken(passkeys, free); number += 1) free = `${name} ${number}`;
  return free;
}

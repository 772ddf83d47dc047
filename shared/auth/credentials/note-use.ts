import { used } from '#shared/stores/credentials/last-use.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';

/** Stores the time in milliseconds at which a key was last accepted. The request goes on if storing fails. */
export function noteUse(
  publicKeys: Pick<PublicKeys, 'touch'>,
  key: PublicKeyRecord,
  at: number,
): void {
  if (used(key, at) !== key) publicKeys.touch(key.id, at).catch(() => undefined);
}

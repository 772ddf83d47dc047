import { used } from '#shared/stores/credentials/last-use.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';

/** Notes when a key let somebody in, at a time in milliseconds. That it cannot be noted keeps nobody out. */
export function noteUse(
  publicKeys: Pick<PublicKeys, 'touch'>,
  key: PublicKeyRecord,
  at: number,
): void {
  if (used(key, at) !== key) publicKeys.touch(key.id, at).catch(() => undefined);
}

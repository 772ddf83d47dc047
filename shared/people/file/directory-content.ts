import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { SecondFactorRecord } from '#shared/stores/credentials/second-factors.ts';
import type { NewRecord } from '../people.ts';

/** All people, keys, passkeys and second factors of a directory, with all credentials except passwords. */
export interface DirectoryContent {
  readonly people: readonly NewRecord[];
  readonly api_keys: readonly ApiKeyRecord[];
  readonly public_keys: readonly PublicKeyRecord[];
  readonly passkeys: readonly PasskeyRecord[];
  /** The second factors, sealed under the master secret. */
  readonly second_factors: readonly SecondFactorRecord[];
}

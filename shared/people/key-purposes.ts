import type { Recorder } from '#shared/audit/recorder.ts';
import { keptJwk } from '#shared/jose/key-fingerprint.ts';
import type { Clients } from '#shared/stores/oauth/clients.ts';
import type { PublicKeyRecord, PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import { BY_SECOND_FACTOR } from './access/assurance.ts';

/** Most keys of one person or application, for all schemes together. */
export const MOST_KEYS = 20;

/** Operators confirm the keys that they add, so these keys have the assurance of a second factor. */
export const VOUCHED = { acr: BY_SECOND_FACTOR.acr } as const;

/** `of a client`: the key authenticates a client at the authorization server. */
export type KeyOutcome = Awaited<ReturnType<PublicKeys['add']>> | 'of a client';

/**
 * Adds a key unless it has another use: no key is used in two protocols (RFC 9729 section 8). This function and the
 * one that adds a client check for the other use after they write. So of two at the same time at least one sees the
 * other.
 */
export async function addPublicKey(
  {
    publicKeys,
    clients,
  }: { publicKeys: Pick<PublicKeys, 'add' | 'remove'>; clients: Pick<Clients, 'withKey'> },
  key: PublicKeyRecord,
  recorder?: Recorder,
): Promise<KeyOutcome> {
  if (await isOfClient(clients, key.id)) return 'of a client';
  const of = { key: key.id, ...ownerOf(key) };
  const changing = (kind: 'public-key.added' | 'public-key.removed') =>
    recorder?.changing('publicKeys', { kind, ...of }) ?? publicKeys;
  const outcome = await changing('public-key.added').add(key, MOST_KEYS);
  if (outcome !== 'added' || !(await isOfClient(clients, key.id))) return outcome;
  await changing('public-key.removed').remove(key.id);
  return 'of a client';
}

/** Returns the owner of a key in the form that events use. */
export const ownerOf = ({ owner: { kind, id } }: PublicKeyRecord) =>
  kind === 'person' ? { person: id } : { client: id };

/** Returns whether the key authenticates a client (RFC 7591 section 2, `jwks`; GNAP). */
export const isOfClient = async (clients: Pick<Clients, 'withKey'>, keyId: string) =>
  (await clients.withKey(keyId)).length > 0;

/** Finds the record of a key that is used for a scheme of the resource server. */
export async function keyInDirectory(
  { publicKeys }: { publicKeys: Pick<PublicKeys, 'get'> },
  jwk: object,
): Promise<PublicKeyRecord | undefined> {
  const key = keptJwk({ ...jwk });
  return key && publicKeys.get(key.id);
}

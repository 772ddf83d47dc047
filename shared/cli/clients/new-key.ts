import type { Recorder } from '#shared/audit/recorder.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import type { ApiKeyRecord } from '#shared/stores/credentials/api-keys.ts';
import { Failure, type Shell } from '../arguments/command.ts';

/** The members of a key that are decided before it is made. */
export type KeyMembers = Pick<
  ApiKeyRecord,
  'application' | 'realm' | 'scopes' | 'expires_at' | 'demo'
>;

/** A key and what may be said about it. */
export type ShownKey = KeyMembers & Pick<ApiKeyRecord, 'id'> & { readonly key: string };

/** Makes a key, of which only the hash is kept: what is returned is to be shown now. */
export async function addKey(
  recorder: Recorder,
  { random, clock }: Shell,
  members: KeyMembers,
  kind: 'api-key.added' | 'api-key.rotated' = 'api-key.added',
): Promise<ShownKey> {
  const { id, key, secret_hash } = newApiKey(random);
  const record = { id, ...members, secret_hash, created_at: clock.now() };
  const apiKeys = recorder.changing('apiKeys', { kind, key: id });
  if (!(await apiKeys.add(record))) throw new Failure('the identifier is taken: try again');
  return { id, key, ...members };
}

/** For people to read. */
export const keyLines = ({ id, key, application, realm, scopes, expires_at }: ShownKey) => [
  `id: ${id}`,
  `key: ${key}`,
  `application: ${application}`,
  `realm: ${realm}`,
  `scopes: ${scopes.join(' ') || 'none'}`,
  `ends: ${expires_at === undefined ? 'never' : new Date(expires_at).toISOString()}`,
];

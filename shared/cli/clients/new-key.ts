import type { newKeySchema } from '#shared/operations/keys/new-key.ts';
import type { Told } from '#shared/operations/operation.ts';

/** Returns the output about a new API key for people. */
export const keyLines = ({
  id,
  key,
  application,
  realm,
  scopes,
  expires_at,
}: Told<typeof newKeySchema>) => [
  `id: ${id}`,
  `key: ${key}`,
  `application: ${application}`,
  `realm: ${realm}`,
  `scopes: ${scopes.join(' ') || 'none'}`,
  `ends: ${expires_at === undefined ? 'never' : new Date(expires_at).toISOString()}`,
];

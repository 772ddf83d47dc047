import { createHmac } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { AdapterStore } from '../storage/store.ts';
import { storedId } from '../storage/stored-id.ts';

/**
 * Computes the refresh token that follows a code or another refresh token. Its identifier is derived from the former
 * identifier, so if the answer was lost and the client repeats the request, any process computes the same token. A
 * different second token would never reach the client.
 */
export function refreshTokenAfter({ master, stores }: AdapterStore) {
  const key = derivedKey(master, 'countersign authz refresh token successor');
  const idAfter = (used: string) => createHmac('sha256', key).update(used).digest('base64url');
  const find = (used: string) =>
    stores.artefacts.get('RefreshToken', storedId('RefreshToken', idAfter(used)));
  return {
    idAfter,
    find,
    /** If the client used the successor, it had received the answer. */
    isUnused: async (used: string) => (await find(used))?.['consumed'] === undefined,
  };
}

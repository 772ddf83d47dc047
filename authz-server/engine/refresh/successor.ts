import { createHmac } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { AdapterStore } from '../storage/store.ts';
import { storedId } from '../storage/stored-id.ts';

/**
 * The refresh token that comes of a code or of another refresh token. Its identifier follows from theirs, so
 * that anybody who uses one of them once more, because the answer was lost, is given the same one, by any
 * number of processes. The client would never learn of a second one.
 */
export function refreshTokenAfter({ master, stores }: AdapterStore) {
  const key = derivedKey(master, 'countersign authz refresh token successor');
  const idAfter = (used: string) => createHmac('sha256', key).update(used).digest('base64url');
  const find = (used: string) =>
    stores.artefacts.get('RefreshToken', storedId('RefreshToken', idAfter(used)));
  return {
    idAfter,
    find,
    /** Once it was used, somebody had the answer. */
    isUnused: async (used: string) => (await find(used))?.['consumed'] === undefined,
  };
}

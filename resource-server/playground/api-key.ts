import { derivedKey } from '#shared/base/derived-key.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { PLAYGROUND_REALM } from '#shared/config/playground.ts';

/**
 * The one API key of the playground, the same in all processes that share the master secret, and the stores in which there
 * is no other.
 */
export function playgroundApiKey(
  stores: Stores,
  master: Buffer,
): { readonly apiKey: string; readonly stores: Stores } {
  const octets = derivedKey(master, 'countersign playground api key');
  const { key, id, secret_hash } = newApiKey((bytes) => octets.subarray(0, bytes));
  const record = {
    id,
    secret_hash,
    application: '(playground)',
    realm: PLAYGROUND_REALM,
    scopes: [],
  };
  const apiKeys: Stores['apiKeys'] = {
    ...stores.apiKeys,
    get: async (asked) => (asked === id ? { ...record, created_at: 0 } : undefined),
    touch: async () => {},
  };
  return { apiKey: key, stores: { ...stores, apiKeys } };
}

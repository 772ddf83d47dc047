import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { spendOfClient } from '../client-limit.ts';
import type { AdapterStore } from './store.ts';

/**
 * Seconds for which a client assertion is remembered: an hour, the default of Authlib, and a margin.
 * Longer-lived ones are refused (client-authentication.ts).
 */
export const ASSERTION_SECONDS = 3720;

/**
 * Client assertions (RFC 7523 section 3). The engine asks `find` and then saves, which lets a replay race
 * through. Here `find` itself claims the identifier: only the first to ask is told that there is none, and
 * only that costs the client anything: a captured assertion that is replayed uses up nobody's limit.
 */
export function replayAdapter(store: AdapterStore): Adapter {
  const nothing = () => Promise.resolve(undefined);
  return {
    async find(id): Promise<AdapterPayload | undefined> {
      const first = await store.stores.replay.unique('assertion', id, ASSERTION_SECONDS);
      if (!first) return { jti: id, kind: 'ReplayDetection' };
      await spendOfClient(store, Provider.ctx?.oidc.client?.clientId ?? '');
      return undefined;
    },
    upsert: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    destroy: nothing,
    consume: nothing,
    revokeByGrantId: nothing,
  };
}

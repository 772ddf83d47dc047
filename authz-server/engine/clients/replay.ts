import { Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { spendOfClient, toEnd } from '../../base/spend.ts';
import type { AdapterStore } from '../storage/store.ts';
import { spendOfStranger } from '../storage/strangers.ts';

/**
 * Seconds for which a client assertion is remembered: one hour, the default of Authlib, and a margin. Assertions with a
 * longer lifetime are refused (client-authentication.ts).
 */
export const ASSERTION_SECONDS = 3720;

/** The namespace under which used assertions are stored. */
const NAMESPACE = 'assertion';

/**
 * Stores the identifiers of client assertions (RFC 7523 section 3). The engine calls `find` and then saves, so two
 * requests at the same time could both use an assertion. Here `find` itself claims the identifier: only the first
 * caller gets "not found". The claim uses up the client's limit first, so that a refused assertion leaves no row. A
 * replayed assertion uses up nothing, since an attacker could otherwise replay a captured assertion many times and so
 * lock its client out.
 */
export function replayAdapter(store: AdapterStore): Adapter {
  const { limits, replay } = store.stores;
  const nothing = () => Promise.resolve(undefined);
  return {
    async find(id): Promise<AdapterPayload | undefined> {
      const used = { jti: id, kind: 'ReplayDetection' };
      if (await replay.seen(NAMESPACE, id)) return used;
      const { client } = Provider.ctx?.oidc ?? {};
      const clientId = client?.clientId ?? '';
      const spending = spendOfClient(store, clientId);
      await (Provider.ctx?.oidc.route === 'revocation' ? toEnd(spending) : spending);
      // Anybody can publish documents for any number of clients with keys.
      if (client?.['is_unknown']) await spendOfStranger(store);
      if (await replay.unique(NAMESPACE, id, ASSERTION_SECONDS)) return undefined;
      await limits.giveBack('client', clientId, store.config.limits.client);
      return used;
    },
    upsert: nothing,
    findByUid: nothing,
    findByUserCode: nothing,
    destroy: nothing,
    consume: nothing,
    revokeByGrantId: nothing,
  };
}

import { Provider } from 'oidc-provider';
import type { Adapter } from 'oidc-provider';
import { artefactAdapter } from '../storage/artefacts.ts';
import { FORMER } from './former-sessions.ts';
import type { AdapterStore } from '../storage/store.ts';
import { boundedForStrangers } from '../storage/strangers.ts';

/**
 * Requests that wait for a person. Of one that the engine has taken up, it stays known for a while which session
 * did so: if the answer is lost, the browser asks again with the identifier that the session had before.
 */
export function interactionAdapter(store: AdapterStore): Adapter {
  const { artefacts } = store.stores;
  const interactions = artefactAdapter(store, 'Interaction');
  const bounded = boundedForStrangers(store, interactions, ({ session }) => session === undefined);
  return {
    ...bounded,
    async find(id) {
      const found = await interactions.find(id);
      return found?.['done'] ? undefined : found;
    },
    async destroy(id) {
      const { result } = (await interactions.find(id)) ?? {};
      const { sessionUid } = result ?? {};
      if (sessionUid === undefined || Provider.ctx?.oidc.route !== 'resume') {
        return interactions.destroy(id);
      }
      const payload = { done: true, result: { sessionUid } };
      await artefacts.put({ kind: 'Interaction', id, payload, seconds: FORMER });
    },
  };
}

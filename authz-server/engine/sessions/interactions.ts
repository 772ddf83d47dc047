import { errors, Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { artefactAdapter } from '../storage/artefacts.ts';
import { FORMER } from './former-sessions.ts';
import type { AdapterStore } from '../storage/store.ts';
import { boundedForStrangers } from '../storage/strangers.ts';

/**
 * Requests that wait for a person. Of any number that take one up, one does. For a while it stays known which session and
 * browser did so: if the answer is lost, the browser asks again, with the identifier that the session had before.
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
      if (Provider.ctx?.oidc.route !== 'resume') return interactions.destroy(id);
      const was: AdapterPayload | undefined = await artefacts.get('Interaction', id);
      const { sessionUid, browser, form } = was?.result ?? {};
      const payload = { done: true, result: { sessionUid, browser, form } };
      const done = { kind: 'Interaction', id, payload, seconds: FORMER };
      const isFirst = was && was['done'] === undefined && (await artefacts.replace(done, was));
      if (!isFirst) throw new errors.SessionNotFound('another request took it up');
    },
  };
}

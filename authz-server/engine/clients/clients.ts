import type { Adapter } from 'oidc-provider';
import { clientMetadata } from './client-metadata.ts';
import type { AdapterStore } from '../storage/store.ts';

/** Clients are managed by the command line, the engine only reads them. It knows nothing of those of GNAP. */
export function clientAdapter({ stores, demoClients }: AdapterStore): Adapter {
  const readOnly = () => Promise.reject(new Error('clients are not written by the engine'));
  return {
    async find(id) {
      const client = await stores.clients.get(id);
      if (client === undefined || (client.demo === true && !demoClients)) return undefined;
      if (client.gnap !== undefined) return undefined;
      return clientMetadata(client);
    },
    upsert: readOnly,
    findByUid: readOnly,
    findByUserCode: readOnly,
    destroy: readOnly,
    consume: readOnly,
    revokeByGrantId: readOnly,
  };
}

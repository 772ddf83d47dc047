import type { Client, Provider } from 'oidc-provider';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { TokenServer } from '../token-request.ts';

/**
 * Finds clients of the engine. It makes one of the same record only once: the engine compares all of its metadata each
 * time.
 */
export function engineClients(
  { stores }: Pick<TokenServer, 'stores'>,
  provider: Provider,
): (clientId: string) => Promise<Client | undefined> {
  const made = new WeakMap<ClientRecord, Client>();
  return async (clientId) => {
    const record = await stores.clients.get(clientId);
    if (record === undefined) return undefined;
    const known = made.get(record);
    if (known !== undefined) return known;
    // It is asked after the record was, so its client is no older.
    const client = await provider.Client.find(clientId);
    if (client !== undefined) made.set(record, client);
    return client;
  };
}

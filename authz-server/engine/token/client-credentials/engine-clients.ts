import type { Client, Provider } from 'oidc-provider';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { clientOf } from '../../clients/clients.ts';
import type { TokenServer } from '../token-request.ts';

/** Clients that are remembered by the text of their record: each look at PostgreSQL makes another object of it. */
const CAPACITY = 1000;

/**
 * Finds clients of the engine. It makes one of the same record only once: the engine compares all of its metadata each
 * time.
 */
export function engineClients(
  { stores }: Pick<TokenServer, 'stores'>,
  provider: Provider,
): (clientId: string) => Promise<Client | undefined> {
  const made = new WeakMap<ClientRecord, Client>();
  const byText = new RecentMap<Client>(CAPACITY);

  /** A client that is described by a document depends on more than its record. */
  async function make(record: ClientRecord): Promise<Client | undefined> {
    if (record.document !== undefined) return clientOf(provider, record);
    const text = JSON.stringify(record);
    const client = byText.get(text) ?? (await clientOf(provider, record));
    if (client !== undefined) byText.set(text, client);
    return client;
  }

  return async (clientId) => {
    const record = await stores.clients.get(clientId);
    if (record === undefined) return undefined;
    const client = made.get(record) ?? (await make(record));
    if (client !== undefined) made.set(record, client);
    return client;
  };
}

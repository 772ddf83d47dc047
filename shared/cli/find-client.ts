import type { ClientRecord, Clients } from '#shared/stores/clients.ts';
import { Failure } from './command.ts';

/** The client of that identifier; throws `Failure` when there is none. */
export async function findClient(clients: Clients, clientId: string): Promise<ClientRecord> {
  const client = await clients.get(clientId);
  if (client === undefined) throw new Failure(`there is no client ${clientId}`);
  return client;
}

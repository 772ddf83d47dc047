import { RESOURCE_SERVER } from '#shared/config/resource-server-client.ts';
import { isSignInClient } from '#shared/config/sign-in-clients.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import { Missing } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** The client of that identifier; throws `Missing` when there is none. */
export async function findClient(clients: Clients, clientId: string): Promise<ClientRecord> {
  const client = await clients.get(clientId);
  if (client === undefined) throw new Missing(said('no-client', { client: clientId }));
  return client;
}

/** Whether both servers know a client by the configuration and the master secret: nobody else says what it is. */
export const isBuiltIn = (clientId: string): boolean =>
  clientId === RESOURCE_SERVER || isSignInClient(clientId);

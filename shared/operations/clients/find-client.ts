import { RESOURCE_SERVER } from '#shared/config/resource-server-client.ts';
import { isSignInClient } from '#shared/config/sign-in-clients.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import { Missing } from '../operation.ts';
import { said } from '#shared/refusals/operations.ts';

/** Returns the client with that identifier; throws `Missing` if there is none. */
export async function findClient(clients: Clients, clientId: string): Promise<ClientRecord> {
  const client = await clients.get(clientId);
  if (client === undefined) throw new Missing(said('no-client', { client: clientId }));
  return client;
}

/** True if a client is built in: both servers derive it from the configuration and the master secret. */
export const isBuiltIn = (clientId: string): boolean =>
  clientId === RESOURCE_SERVER || isSignInClient(clientId);

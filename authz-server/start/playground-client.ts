import type { DocumentClients } from '#shared/client-documents/document-clients.ts';
import { playgroundClient } from '#shared/config/playground-client.ts';
import type { Parts } from '#shared/server/process.ts';

/**
 * The same clients and that of the playground, where the configuration has one. It is in no store, so nothing of it is
 * left where the playground was turned off, and operators do not see it among theirs.
 */
export function withPlaygroundClient(
  clients: DocumentClients,
  { config, master }: Pick<Parts, 'config' | 'master'>,
): DocumentClients {
  const own = playgroundClient(config, master);
  if (own === undefined) return clients;
  const isOwn = (clientId: string) => clientId === own.client_id;
  return {
    ...clients,
    get: async (clientId) => (isOwn(clientId) ? own : clients.get(clientId)),
    current: async (clientId, asker) => (isOwn(clientId) ? own : clients.current(clientId, asker)),
  };
}

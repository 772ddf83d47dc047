import type { House } from '#shared/operations/operation.ts';
import type { AuthzServer } from './server.ts';

/** Returns what operations work on, of a server that knows its master secret: clients as they are stored. */
export const houseOf = <
  Server extends Omit<House, 'masterSecret'> & Pick<AuthzServer, 'documents' | 'master'>,
>(
  server: Server,
): Server & House => ({
  ...server,
  stores: { ...server.stores, clients: server.documents.stored },
  masterSecret: async () => server.master,
});

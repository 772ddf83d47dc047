import type { House } from '#shared/operations/operation.ts';
import type { AuthzServer } from './server.ts';

/** Returns the server in the form that operations need: with the master secret, and with the stored clients. */
export const houseOf = <
  Server extends Omit<House, 'masterSecret'> & Pick<AuthzServer, 'documents' | 'master'>,
>(
  server: Server,
): Server & House => ({
  ...server,
  stores: { ...server.stores, clients: server.documents.stored },
  masterSecret: async () => server.master,
});

import type { House } from '#shared/operations/operation.ts';
import type { AuthzServer } from './server.ts';

/** Returns what operations work on, of a server that knows its master secret. */
export const houseOf = <Server extends Omit<House, 'masterSecret'> & Pick<AuthzServer, 'master'>>(
  server: Server,
): Server & House => ({ ...server, masterSecret: async () => server.master });

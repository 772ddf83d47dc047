import type { AccessStore } from '#shared/people/access/access-store.ts';
import type { AuthzServer } from '../../base/server.ts';

/** The parts of the stores that the engine's storage uses. */
export interface AdapterStore
  extends
    AccessStore,
    Pick<AuthzServer, 'config' | 'directory' | 'demoClients' | 'master' | 'random'> {
  readonly documents: Pick<AuthzServer['documents'], 'current' | 'stored'>;
  readonly stores: Pick<
    AuthzServer['stores'],
    | 'artefacts'
    | 'clients'
    | 'limits'
    | 'passkeys'
    | 'people'
    | 'ping'
    | 'publicKeys'
    | 'replay'
    | 'revocations'
  >;
}

import type { Parts } from '#shared/server/process.ts';
import type { PagesServer } from './pages-server.ts';

/** What the authorization server works with. */
export interface AuthzServer extends PagesServer, Pick<Parts, 'feed' | 'ready'> {
  /** Whether clients that the first start made may be used. */
  readonly demoClients: boolean;
}

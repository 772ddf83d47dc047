import type { Directory } from '#shared/people/directory.ts';
import type { Parts } from '#shared/server/process.ts';

/** What the pages work with. */
export interface PagesServer extends Omit<Parts, 'log' | 'feed' | 'ready'> {
  readonly directory: Directory;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

/** What the authorization server works with. */
export interface AuthzServer extends PagesServer, Pick<Parts, 'feed' | 'ready'> {
  /** Whether clients that the first start made may be used. */
  readonly demoClients: boolean;
}

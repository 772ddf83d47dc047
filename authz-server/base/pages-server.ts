import type { Directory } from '#shared/people/directory.ts';
import type { Parts } from '#shared/server/process.ts';

/** What the pages work with. */
export interface PagesServer extends Omit<Parts, 'log' | 'feed' | 'ready'> {
  readonly directory: Directory;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

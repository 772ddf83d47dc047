import type { Clock } from '#shared/base/clock.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** What is needed to see and to end what a person has opened. */
export interface AccessStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations'>;
  readonly clock: Clock;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

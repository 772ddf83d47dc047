import type { Clock } from '#shared/base/clock.ts';
import type { Stores } from '#shared/stores/stores.ts';

/** The stores for listing and ending a person's sign-ins and grants. Those made with a passkey end with it. */
export interface AccessStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations' | 'passkeys'>;
  readonly clock: Clock;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

import type { Clock } from '#shared/clock.ts';
import { rememberUntil } from '#shared/oauth/lifetime.ts';
import type { Stores } from '#shared/stores/stores.ts';

export interface GrantStore {
  readonly stores: Pick<Stores, 'artefacts' | 'revocations'>;
  readonly clock: Clock;
  /** Seconds: the longest life of a token. */
  readonly longestLife: number;
}

/**
 * Ends a grant with all that came of it. The revocation is written first: once it is, every access
 * token of the grant is refused, and a crash before the rest is harmless.
 */
export async function endGrant(store: GrantStore, grantId: string): Promise<void> {
  const until = rememberUntil(store.clock.now(), store.longestLife);
  await store.stores.revocations.revoke('grant', grantId, until);
  await store.stores.artefacts.removeByGrant(grantId);
  await store.stores.artefacts.remove('Grant', grantId);
}

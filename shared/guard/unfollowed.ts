import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';

const NOTHING: RevocationView = {
  epoch: undefined,
  revokedBy: () => undefined,
  generation: () => 0,
  raises: 0,
  raisedSince: () => false,
};

/** The feed of a guard that does not follow revocations: it has none. */
export const UNFOLLOWED: Omit<RevocationFeed, 'current' | 'status'> = {
  latest: () => NOTHING,
  onKeyRevoked: () => {},
  [Symbol.asyncDispose]: async () => {},
};

import { createTokenVerifier, type TokenVerifier } from './token-verifier.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { RevocationFeed } from '#shared/stores/revocation/revocations.ts';
import type { Jwks } from './jwks.ts';

export interface IssuedTokensOptions {
  readonly issuer: string;
  readonly jwks: Jwks;
  readonly feed: Pick<RevocationFeed, 'latest' | 'onKeyRevoked'>;
  readonly clock: Clock;
  /** Seconds. */
  readonly skew: number;
}

/**
 * Creates a verifier of an issuer's tokens, with its published keys. The feed reports compromised keys, and new keys
 * after the store lost its data, earlier than the cached JWKS.
 */
export function issuedTokens({ jwks, feed, ...options }: IssuedTokensOptions): TokenVerifier {
  feed.onKeyRevoked((kid) => jwks.drop(kid));
  return createTokenVerifier({ ...options, keys: jwks, feed, onNewEpoch: () => jwks.renew() });
}

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
 * Creates a verifier of an issuer's tokens, by the keys that the issuer publishes. The feed tells sooner than the JWKS
 * that a key is compromised, or that the issuer has new keys since the store lost its memory.
 */
export function issuedTokens({ jwks, feed, ...options }: IssuedTokensOptions): TokenVerifier {
  feed.onKeyRevoked((kid) => jwks.drop(kid));
  return createTokenVerifier({ ...options, keys: jwks, feed, onNewEpoch: () => jwks.renew() });
}

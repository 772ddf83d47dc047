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
 * Verifies the tokens of an issuer by the keys that it publishes. The feed tells sooner than the JWKS
 * that a key is compromised, and that the issuer has new ones since the store lost its memory.
 */
export function issuedTokens({ jwks, feed, ...options }: IssuedTokensOptions): TokenVerifier {
  feed.onKeyRevoked((kid) => jwks.drop(kid));
  return createTokenVerifier({ ...options, keys: jwks, feed, onNewEpoch: () => jwks.renew() });
}

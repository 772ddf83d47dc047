import type { KeyObject } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Proofs } from '#shared/stores/authentication/proofs.ts';
import { createNonces } from '../credentials/nonces.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { bearer } from './bearer/bearer.ts';
import { dpop } from './dpop/dpop.ts';
import type { OAuthSchemes } from './parts/oauth.ts';
import type { TokenVerifier } from '../tokens/token-verifier.ts';

/** Most keys of DPoP clients that are kept in imported form. */
const PROOF_KEYS = 10_000;

export interface OAuthSchemesOptions {
  readonly tokens: TokenVerifier;
  readonly proofs: Proofs;
  /** The master secret, from which the secret of nonces is derived. */
  readonly master: Buffer;
  readonly clock: Clock;
}

export function oauthSchemes({ tokens, proofs, master, clock }: OAuthSchemesOptions): OAuthSchemes {
  const secret = derivedKey(master, 'dpop-nonce');
  const nonces = createNonces({ secret, clock });
  const keys = new RecentMap<KeyObject>(PROOF_KEYS);
  const parts = { tokens, proofs, clock, keys, nonces };
  return {
    bearer: (space) => bearer({ space, tokens }),
    dpop: (space) => dpop({ ...parts, space, needsNonce: space.nonce }),
  };
}

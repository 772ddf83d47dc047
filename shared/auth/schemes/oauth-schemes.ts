import type { KeyObject } from 'node:crypto';
import { derivedKey } from '#shared/base/derived-key.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { createNonces } from '../credentials/nonces.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { bearer } from './bearer/bearer.ts';
import { dpop } from './dpop/dpop.ts';
import type { OAuthSchemes } from './parts/oauth.ts';
import type { TokenVerifier } from '../tokens/token-verifier.ts';

/** Keys of DPoP clients kept imported. */
const PROOF_KEYS = 10_000;

export interface OAuthSchemesOptions {
  readonly tokens: TokenVerifier;
  readonly replay: Pick<Replay, 'unique'>;
  /** The master secret, from which that of the nonces is derived. */
  readonly master: Buffer;
  readonly clock: Clock;
}

export function oauthSchemes({ tokens, replay, master, clock }: OAuthSchemesOptions): OAuthSchemes {
  const secret = derivedKey(master, 'dpop-nonce');
  const nonces = createNonces({ secret, clock });
  const keys = new RecentMap<KeyObject>(PROOF_KEYS);
  const proofs = { tokens, replay, clock, keys };
  return {
    bearer: (space) => bearer({ space, tokens }),
    dpop: (space) => dpop({ ...proofs, space, ...(space.nonce && { nonces }) }),
  };
}

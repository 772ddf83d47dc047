import { type Clock, epochSeconds } from '#shared/base/clock.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { ALGORITHMS } from '#shared/jose/algorithms.ts';
import {
  checkDpopProof,
  type CheckedProof,
  type KeyCache,
  type ProofError,
} from '#shared/jose/dpop-proof.ts';
import { PROOF_WINDOW, proofMemory } from '#shared/jose/proof-life.ts';
import type { Proofs } from '#shared/stores/authentication/proofs.ts';
import { type Refusal, within } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import type { Nonces } from '../../credentials/nonces.ts';
import {
  actOf,
  type AuthRequest,
  type NeededAuthentication,
  type Scheme,
  type Verdict,
} from '../../scheme.ts';
import type { TokenVerifier } from '../../tokens/token-verifier.ts';
import { oauthChallenge, type OAuthSpace } from '../parts/oauth.ts';

export interface DpopOptions {
  readonly space: OAuthSpace;
  readonly tokens: TokenVerifier;
  readonly proofs: Proofs;
  readonly clock: Clock;
  readonly nonces: Nonces;
  /**
   * Whether proofs must carry a nonce of this server. Otherwise the server asks for a nonce only if `iat` does not
   * show that a proof is new.
   */
  readonly needsNonce: boolean;
  readonly keys: KeyCache;
}

type DpopError =
  | ProofError
  | 'invalid_request'
  | 'insufficient_scope'
  | 'insufficient_user_authentication';

/** The value of `algs` (RFC 9449 section 7.1). */
const ALGS = [...ALGORITHMS.values()].map(({ alg }) => alg).join(' ');

/** Returns the path as received, without the origin if the target is in absolute-form. */
const pathOf = (target: string) => target.replace(/^https?:\/\/[^/?]*/i, '');

/**
 * Makes the DPoP scheme (RFC 9449): a token bound to a key, and for each request a proof that its sender holds the
 * key.
 */
export function dpop(options: DpopOptions): Scheme {
  const { space, tokens, proofs, clock, nonces, needsNonce, keys } = options;
  const memory = proofMemory(needsNonce ? nonces.lifetime : 2 * PROOF_WINDOW);

  function challenge(
    scopes: readonly string[],
    error?: DpopError,
    needed?: NeededAuthentication,
  ): Challenge {
    const { scheme, params } = oauthChallenge('DPoP', space, scopes, error, needed);
    return { scheme, params: { ...params, algs: ALGS } };
  }

  /**
   * Returns the fields with the nonce for the next request; caches must not store the answer (RFC 9449 section 8.2).
   */
  const nonceFields = () => ({
    'DPoP-Nonce': nonces.issue(space.realm),
    'Cache-Control': 'no-store',
  });

  function refused(request: AuthRequest, refusal: Refusal, error: DpopError): Verdict {
    const givesNonce = needsNonce || error === 'use_dpop_nonce';
    return {
      kind: 'refused',
      as: error === 'invalid_request' ? 'malformed' : 'unauthenticated',
      ...refusal,
      challenges: [challenge(space.scopes(actOf(request)), error)],
      ...(givesNonce && { fields: nonceFields() }),
    };
  }

  const ofToken = (request: AuthRequest, refusal: Refusal) =>
    refused(request, within('access token', refusal), 'invalid_token');

  function nonceRefusal(nonce: string | undefined): Refusal | undefined {
    if (nonce === undefined) return refuse('proof-nonce-missing');
    const state = nonces.check(nonce, space.realm);
    if (state === 'fresh') return undefined;
    return refuse(state === 'stale' ? 'proof-nonce-stale' : 'proof-nonce-foreign');
  }

  /**
   * Returns a time before which the proof was not made: that of its nonce, or else `iat` less the accepted window,
   * since the client's clock may be ahead.
   */
  function madeAt({ iat, nonce }: CheckedProof): number {
    return nonceRefusal(nonce) === undefined && nonce !== undefined
      ? nonces.madeAt(nonce)
      : (iat - PROOF_WINDOW) * 1000;
  }

  return {
    name: 'DPoP',

    challenge: (request) => [challenge(space.scopes(actOf(request)))],

    async authenticate({ token68 }, request) {
      if (token68 === undefined)
        return refused(request, refuse('token-not-b64token'), 'invalid_request');
      const [proof, another] = request.lines('dpop');
      if (proof === undefined) {
        return refused(request, refuse('proof-none'), 'invalid_dpop_proof');
      }
      if (another !== undefined)
        return refused(request, refuse('proof-several'), 'invalid_request');

      const token = await tokens.verify(token68, space.audiences);
      if (token.kind === 'unavailable') return token;
      if (token.kind === 'refused') return ofToken(request, token);
      const { cnf, principal, grounds } = token;
      if (cnf === undefined) return ofToken(request, refuse('token-unbound'));
      if (!('jkt' in cnf)) return ofToken(request, refuse('token-of-gnap'));
      const { jkt } = cnf;

      const expected = {
        method: request.method,
        htu: request.origin + pathOf(request.target),
        accessToken: token68,
        jkt,
        now: epochSeconds(clock),
        window: PROOF_WINDOW,
        ...(needsNonce && { refusesNonce: nonceRefusal }),
      };
      const checked = checkDpopProof(proof, expected, keys);
      if (!checked.ok) return refused(request, within('DPoP proof', checked), checked.error);
      const once = { made: madeAt(checked), seconds: memory };
      const use = await proofs.spend('dpop', `${jkt} ${checked.jti}`, once);
      if (use === 'used') {
        return refused(request, within('DPoP proof', refuse('proof-used')), 'invalid_dpop_proof');
      }
      if (use === 'forgotten') {
        const refusal = within('DPoP proof', refuse('proof-nonce-needed'));
        return refused(request, refusal, 'use_dpop_nonce');
      }
      const next = needsNonce ? { proof: { fields: nonceFields() } } : {};
      return { kind: 'granted', principal, grounds, ...next };
    },

    insufficientScope: (scopes) => challenge(scopes, 'insufficient_scope'),

    insufficientAuthentication: (needed, scopes) =>
      challenge(scopes, 'insufficient_user_authentication', needed),
  };
}

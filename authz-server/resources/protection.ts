import type { KeyObject } from 'node:crypto';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import { ORIGIN, type Principal, type ProtectionSpace } from '#shared/auth/scheme.ts';
import { createTokenVerifier, type TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import { JUDGED_FOR } from '#shared/auth/standing/standing.ts';
import type { TokenSpace } from '#shared/config/token-spaces.ts';
import { type Answer, endedMeanwhile } from '#shared/http/answer.ts';
import type { ByToken } from '#shared/server/endpoints/endpoint.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Parts } from '#shared/server/process.ts';
import { spaceScopes } from './resource-indicators.ts';

export interface ProtectionParts extends Pick<
  Parts,
  'config' | 'stores' | 'feed' | 'master' | 'clock'
> {
  /** Returns this server's public key for access tokens by its `kid`. */
  readonly publicKey: (kid: string) => Promise<KeyObject | undefined>;
}

/** An admitted client. */
export interface Requester {
  readonly clientId: string;
  readonly principal: Principal;
  /**
   * Checks the token again after content has arrived, possibly slowly. Rejects with `HttpError` 403 if the token was
   * revoked meanwhile.
   */
  judgeAgain(): Promise<void>;
}

/** Handles a request of an admitted client. */
export type Work = (
  request: AnyRequest,
  requester: Requester,
) => Promise<Answer<string | Uint8Array>>;

/** Additional rules of a resource, beyond a token of its own with its scopes. */
export interface Rules extends Pick<ProtectionSpace, 'stepUp'> {
  /** The scopes by method; if absent, every method needs every scope of the resource. */
  readonly scopes?: ProtectionSpace['scopes'];
  /** Returns the verifier of the tokens, given the verifier of this server. */
  readonly verifier?: (tokens: TokenVerifier) => TokenVerifier;
}

/**
 * Makes endpoints protected resources of this server (RFC 6750, RFC 9449, RFC 9728). Each endpoint accepts only access
 * tokens that were issued for its own URL and have its scope, and checks them as the resource server does.
 */
export function protection({ config, stores, feed, master, clock, publicKey }: ProtectionParts) {
  const { issuer, tokens: settings } = config;
  const keys = { key: (kid: string) => publicKey(kid) };
  const tokens = createTokenVerifier({ issuer, keys, feed, clock, skew: settings.skew });

  function protectionSpace(
    { url, realm, scopes: needed }: TokenSpace,
    rules: Rules,
  ): ProtectionSpace {
    const { scopes = () => [...spaceScopes({ scopes: needed })], stepUp } = rules;
    const { verifier = (own: TokenVerifier) => own } = rules;
    const { bearer, dpop } = oauthSchemes({
      tokens: verifier(tokens),
      proofs: stores.proofs,
      master,
      clock,
    });
    const oauth = { realm, audiences: [url], metadata: metadataUrl(url), scopes };
    const schemes = [dpop({ ...oauth, nonce: settings.nonce }), bearer(oauth)];
    return { at: ORIGIN, realm, schemes, scopes, ...(stepUp && { stepUp }) };
  }

  return (resource: TokenSpace, work: Work, rules: Rules = {}): ByToken => ({
    space: protectionSpace(resource, rules),
    origin: new URL(resource.url).origin,
    answer(request, { principal, grounds = [] }) {
      const began = clock.monotonic();
      const clientId = principal.claims?.['client_id'] ?? '';
      return work(request, {
        clientId,
        principal,
        async judgeAgain() {
          if (clock.monotonic() - began < JUDGED_FOR) return;
          const ends = await Promise.all(grounds.map(async (one) => one.end()));
          if (ends.includes('revoked')) throw endedMeanwhile();
        },
      });
    },
  });
}

import type { KeyObject } from 'node:crypto';
import { oauthSchemes } from '#shared/auth/schemes/oauth-schemes.ts';
import { ORIGIN, type Principal, type ProtectionSpace } from '#shared/auth/scheme.ts';
import { createTokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import { metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import type { TokenSpace } from '#shared/config/token-spaces.ts';
import type { Answer } from '#shared/http/answer.ts';
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

/** A client that was admitted. */
export interface Requester {
  readonly clientId: string;
  readonly principal: Principal;
}

/** Does the work of an endpoint for an admitted client. */
export type Work = (
  request: AnyRequest,
  requester: Requester,
) => Promise<Answer<string | Uint8Array>>;

/**
 * Makes endpoints protected resources of this server (RFC 6750, RFC 9449, RFC 9728): each takes only
 * access tokens that were issued for its own URL and have its scope, looked at as at the resource server.
 */
export function protection({ config, stores, feed, master, clock, publicKey }: ProtectionParts) {
  const { issuer, tokens: settings } = config;
  const keys = { key: (kid: string) => publicKey(kid) };
  const tokens = createTokenVerifier({ issuer, keys, feed, clock, skew: settings.skew });
  const { bearer, dpop } = oauthSchemes({ tokens, replay: stores.replay, master, clock });

  function protectionSpace({ url, realm, scopes: needed }: TokenSpace): ProtectionSpace {
    const scopes = () => [...spaceScopes({ scopes: needed })];
    const oauth = { realm, audiences: [url], metadata: metadataUrl(url), scopes };
    const schemes = [dpop({ ...oauth, nonce: settings.nonce }), bearer(oauth)];
    return { at: ORIGIN, realm, schemes, scopes };
  }

  return (resource: TokenSpace, work: Work): ByToken => ({
    space: protectionSpace(resource),
    origin: new URL(resource.url).origin,
    answer: (request, principal) =>
      work(request, { clientId: principal.claims?.['client_id'] ?? '', principal }),
  });
}

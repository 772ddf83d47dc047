import type { Challenge } from '#shared/http/auth/challenge.ts';
import type { NeededAuthentication, Scheme } from '../../scheme.ts';
import { metadataUrl } from '../../tokens/protected-resource.ts';
import { audiencesOf } from '../../tokens/token-verifier.ts';

/** The data about a protection space that its OAuth schemes need. */
export interface OAuthSpace {
  readonly realm: string;
  /** Identifiers of the space; a token must name one of them. */
  readonly audiences: readonly string[];
  /** URL of the space's protected resource metadata (RFC 9728 section 3); absent if it has none. */
  readonly metadata?: string;
  /** Returns the scopes that a request with this method needs. */
  scopes(method: string): readonly string[];
}

/** Makes the schemes for access tokens; the spaces of one server share their parts. */
export interface OAuthSchemes {
  bearer(space: OAuthSpace): Scheme;
  /** `nonce`: proofs must carry a nonce of this server (RFC 9449 section 9). */
  dpop(space: OAuthSpace & { readonly nonce: boolean }): Scheme;
}

/** Error codes (RFC 6750 section 3.1, RFC 9449 sections 7.1 and 9) and their descriptions for developers. */
const DESCRIPTIONS = {
  invalid_request: 'The access token is missing from the Authorization field or malformed',
  invalid_token: 'The access token is expired, revoked, not for this resource or bound otherwise',
  insufficient_scope: 'The access token lacks a scope that this request needs',
  insufficient_user_authentication:
    'The request needs another sign-in: as acr_values says, or more recent, as max_age says',
  invalid_dpop_proof: 'The DPoP proof is missing, malformed, used before or not for this request',
  use_dpop_nonce: 'The DPoP proof needs the nonce that the DPoP-Nonce field gives',
};

/**
 * Returns a challenge (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728 section 5.1). It has no error code if the
 * request had no credentials.
 */
export function oauthChallenge(
  scheme: 'Bearer' | 'DPoP',
  space: OAuthSpace,
  scopes: readonly string[],
  error?: keyof typeof DESCRIPTIONS,
  needed: NeededAuthentication = {},
): Challenge {
  return {
    scheme,
    params: {
      realm: space.realm,
      ...(error && { error, error_description: DESCRIPTIONS[error] }),
      ...authenticationParams(needed),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(space.metadata !== undefined && { resource_metadata: space.metadata }),
    },
  };
}

/** Returns the parameters of a challenge that asks for another sign-in (RFC 9470 section 3). */
export const authenticationParams = ({ acrValues, maxAge }: NeededAuthentication) => ({
  ...(acrValues && { acr_values: acrValues.join(' ') }),
  ...(maxAge !== undefined && { max_age: String(maxAge) }),
});

/** Returns the description of a space that is an OAuth resource of its own (RFC 8707, RFC 9728). */
export function oauthSpace({
  realm,
  url,
  scopes,
}: Pick<OAuthSpace, 'realm' | 'scopes'> & { readonly url: string }): OAuthSpace {
  return { realm, scopes, audiences: audiencesOf(url), metadata: metadataUrl(url) };
}

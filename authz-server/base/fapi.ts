import type { Client } from 'oidc-provider';

/**
 * THE rules for a client with the FAPI 2.0 Security Profile (`client add --profile fapi2`), with their sections there,
 * beside the rules that hold for all clients. integration/token/fapi.test.ts tests them.
 *
 *  1. The client has keys, uses PKCE, and has redirect URIs with https; its ID tokens are signed with ES256 (sections
 *     5.3.2.1, 5.3.2.2 and 5.4.1): shared/operations/clients/client-rules.ts.
 *  2. An authorization request is pushed, with PKCE (S256) and `redirect_uri` (section 5.3.2.2): `clientMetadata`
 *     and `pkceRequired` in engine/.
 *  3. All its tokens are bound to the key of a DPoP proof (section 5.3.2.1): `clientMetadata`, and `demandedProof` in
 *     engine/token/token-request.ts.
 *  4. The audience of an assertion is the issuer as a string, whatever `tokens.assertionAudience` says (section
 *     5.3.2.1): engine/clients/client-authentication.ts.
 *  5. Assertions, DPoP proofs and access tokens are signed with PS256, ES256 or EdDSA (section 5.4.1): `isFapiAlg`. A
 *     resource whose tokens are signed with RS256 is not open to the client: resources/resource-indicators.ts.
 *  6. A refresh token is not replaced (section 5.3.2.1): engine/refresh/refresh.ts.
 *
 * For all clients an assertion may come from 10 s in the future (section 5.3.2.1), a code lives 60 s, a pushed request less than 600 s, an answer has `iss`, and no redirect has the
 * status 307 (section 5.3.2.2).
 */
export const isFapi = (client: Client | undefined): boolean => client?.['profile'] === 'fapi2';

/** The algorithms of section 5.4.1. Ed25519 is the name of EdDSA with its curve (RFC 9864 section 2.2). */
const FAPI_ALGS: ReadonlySet<unknown> = new Set(['PS256', 'ES256', 'EdDSA', 'Ed25519']);

/** Whether a JWT of such a client may be signed with the algorithm. */
export const isFapiAlg = (alg: unknown): boolean => FAPI_ALGS.has(alg);

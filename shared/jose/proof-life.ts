/**
 * How long a DPoP proof lives, in seconds (RFC 9449 section 11.1): it passes while its `iat` differs by no more
 * than a window from our clock, either way, or while the nonce is good that it has instead.
 */

/** At resources, and for userinfo and PrivateToken at the authorization server. */
export const PROOF_WINDOW = 60;

/** At the token endpoint and for pushed requests: that of the engine (oidc-provider), which has no setting. */
export const TOKEN_PROOF_WINDOW = 300;

/** By which the clocks of several servers may differ. */
const CLOCK_DIFFERENCE = 60;

/** For which one that was used is remembered. `lifetime`: from the first to the last moment at which it can pass. */
export const proofMemory = (lifetime: number): number => lifetime + CLOCK_DIFFERENCE;

/**
 * The life of a DPoP proof, in seconds (RFC 9449 section 11.1). With a nonce it is valid while the nonce is. Without,
 * it is valid while its `iat` differs from the server's clock by at most a window.
 */

/** The window, in seconds, at resources, and for userinfo and PrivateToken at the authorization server. */
export const PROOF_WINDOW = 60;

/** The window, in seconds, at the token endpoint and for pushed requests. The engine (oidc-provider) fixes it. */
export const TOKEN_PROOF_WINDOW = 300;

/** Seconds by which the clocks of several servers may differ. */
const CLOCK_DIFFERENCE = 60;

/**
 * Returns the seconds for which a used proof is remembered. `lifetime` is the time from the first to the last moment at
 * which it can pass.
 */
export const proofMemory = (lifetime: number): number => lifetime + CLOCK_DIFFERENCE;

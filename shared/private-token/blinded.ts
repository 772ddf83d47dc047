/** The state of a client between its request for a token and the issuer's response. */
export interface Blinded {
  /** `blinded_msg` of the TokenRequest. */
  readonly blinded: Buffer;
  /** Returns the token's authenticator from a TokenResponse; undefined if the response is wrong. */
  finalize(response: Uint8Array): Buffer | undefined;
}

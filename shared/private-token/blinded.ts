/** The state of a client between its request for a token and the issuer's response. */
export interface Blinded {
  /** `blinded_msg` of the TokenRequest. */
  readonly blinded: Buffer;
  /** The authenticator of the token, from a TokenResponse; undefined when the response is not right. */
  finalize(response: Uint8Array): Buffer | undefined;
}

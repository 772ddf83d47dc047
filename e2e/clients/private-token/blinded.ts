/** The state of a client between its request and the issuer's response. */
export interface Blinded {
  /** The message for the issuer, which reveals nothing about the input. */
  readonly request: Buffer;
  /** The authenticator for the input; throws if the response has no valid proof. */
  finalize(response: Uint8Array): Buffer;
}

/** A client between its request and the issuer's response. */
export interface Blinded {
  /** The message for the issuer, which learns nothing of the input. */
  readonly request: Buffer;
  /** The authenticator of the input; throws at a response that does not prove itself. */
  finalize(response: Uint8Array): Buffer;
}

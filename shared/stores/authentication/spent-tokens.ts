/** Redeemed tokens (RFC 9577 section 2.2): a hash and an expiry. They are as durable as the keys that verify tokens. */
export interface SpentTokens {
  /**
   * True for exactly one caller until `until`, in all processes. `token`: its key and nonce, for example; the store
   * keeps the SHA-256. `until`: milliseconds since the epoch, when no process accepts the token any more, whatever its
   * clock.
   */
  spend(token: Uint8Array, until: number): Promise<boolean>;
}

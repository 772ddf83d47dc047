/**
 * Tokens that were redeemed (RFC 9577 section 2.2): a hash and an expiry, and nothing that says of whom,
 * where or when. As durable as the keys that the tokens are verified with: what forgets one forgets both.
 */
export interface SpentTokens {
  /**
   * True for exactly one caller until `until`, whatever the number of callers and processes; false for
   * all from then on. `token`: what names it, such as its key and nonce; only its SHA-256 is stored.
   * `until`: milliseconds since the epoch, when no process takes the token any more, whatever its clock.
   */
  spend(token: Uint8Array, until: number): Promise<boolean>;
}

import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Turn } from '#shared/base/line.ts';
import type { Token } from '#shared/private-token/token.ts';
import type { TokenKey } from '#shared/private-token/token-key.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';

/** A key whose tokens are accepted now. */
export interface IssuerKey extends TokenKey {
  /**
   * Milliseconds since the epoch from which no token of the key is accepted; undefined if the issuer does not say.
   */
  readonly until: number | undefined;
}

/** The issuer that an origin names in its challenges, however the origin gets the issuer's keys. */
export interface TrustedIssuer {
  /** `issuer_name`: a server name (RFC 9577 section 2.1.1.1). */
  readonly name: string;
  /**
   * Returns the keys of a type that may be used now, the issuer's preferred key first (RFC 9578 section 4). Returns
   * none if no token of such a key could be verified. Throws `KeysUnavailable` if the keys are unknown and cannot be
   * fetched.
   */
  keys(type: TokenType): Awaitable<readonly IssuerKey[]>;
  /**
   * Returns the key with that id; if it is unknown, the issuer is asked once more. Throws `KeysUnavailable` like
   * `keys`.
   */
  key(type: TokenType, id: Uint8Array): Awaitable<IssuerKey | undefined>;
  /**
   * Returns whether the token's authenticator is right. Throws `KeysUnavailable` if it cannot find out now. `turn`:
   * the queue for work that has to wait.
   */
  verify(token: Token, key: IssuerKey, turn: Turn): Awaitable<boolean>;
}

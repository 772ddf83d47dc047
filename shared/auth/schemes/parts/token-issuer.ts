import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Turn } from '#shared/base/line.ts';
import type { Token } from '#shared/private-token/token.ts';
import type { TokenKey } from '#shared/private-token/token-key.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';

/** A key that tokens are good by now. */
export interface IssuerKey extends TokenKey {
  /** Milliseconds since the epoch: no token of it passes from then on; undefined: nobody says. */
  readonly until: number | undefined;
}

/** The issuer that an origin names in its challenges, however the origin comes by its keys. */
export interface TrustedIssuer {
  /** `issuer_name`: a server name (RFC 9577 section 2.1.1.1). */
  readonly name: string;
  /**
   * The keys of a type that may be used now, the issuer's preferred one first (RFC 9578 section 4); none
   * where no token of them could be verified. Throws `KeysUnavailable` when they are not known and cannot be fetched.
   */
  keys(type: TokenType): Awaitable<readonly IssuerKey[]>;
  /** The key with that id, looked for once more at the issuer when it is not known. Throws like `keys`. */
  key(type: TokenType, id: Uint8Array): Awaitable<IssuerKey | undefined>;
  /**
   * Whether the authenticator is right. Throws `KeysUnavailable` when it cannot be told now. `turn`: whose turn the work
   * waits for, if it has to.
   */
  verify(token: Token, key: IssuerKey, turn: Turn): Awaitable<boolean>;
}

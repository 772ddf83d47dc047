import type { Awaitable } from '#shared/base/awaitable.ts';

export interface Rate {
  /** The number of uses at once. */
  readonly burst: number;
  /** Seconds until the next use is allowed. */
  readonly per: number;
}

export type Spent =
  | {
      readonly ok: true;
      /** The number of remaining uses. */
      readonly remaining: number;
      /** Seconds (>= 1) until the bucket is full again. */
      readonly reset: number;
    }
  | { readonly ok: false; readonly retryAfter: number };

/** All limited operations, with the key of their buckets. `limits` of the configuration has the rates. */
export type LimitNamespace =
  /** Requests to public endpoints of the authorization server, by address. */
  | 'address'
  /** Token requests of a client and its assertions at any endpoint, by client id. */
  | 'client'
  /** Rows of unknown visitors in the store, by address. */
  | 'visits'
  /** Rows of all unknown visitors, under `all`. */
  | 'all-visits'
  /** Rows of signed-in people that wait in the store, by account. */
  | 'visits-account'
  /** Used refresh tokens that the store remembers, by account. */
  | 'refresh-tokens'
  /** Revocations of single tokens, which every server remembers, by account. */
  | 'revocations'
  /** Polls of a GNAP client, by grant (RFC 9635 section 5). */
  | 'gnap-poll'
  /** Polls of a device for its tokens, by device code (RFC 8628 section 3.5). */
  | 'device-poll'
  /** Unregistered clients that are kept because a person allowed their request, by account. */
  | 'gnap-clients'
  | 'document-clients'
  /** Fetches of unknown client descriptions: by address, of all under `all`, by host, and by address and host. */
  | 'documents-address'
  | 'documents-address-host'
  | 'documents-host'
  /** Fetches of known client descriptions, by client. */
  | 'documents-client'
  /** One-time codes by account: at once, over days, and from browsers in which the person has used a code. */
  | 'second-factor'
  | 'second-factor-days'
  | 'second-factor-browsers'
  /** Entered device codes, by account and by address. */
  | 'user-code'
  | 'user-code-address'
  /** The few remaining codes of an account whose address has no more. */
  | 'user-code-strict'
  /** Passwords on the sign-in page: by name, by address, by name in a known browser, and in all known browsers. */
  | 'sign-in-name'
  | 'sign-in-address'
  | 'sign-in-browser'
  | 'sign-in-browsers'
  /** Links requested by mail: by name, even of no person, and by address. */
  | 'recovery-name'
  | 'recovery-address'
  /** Links sent by mail: by mail address, and by account. */
  | 'mail-address'
  | 'mail-account'
  /** Links to create an account, by network address. */
  | 'registration-address'
  /** Names that are tried with a link to create an account, by the id of the future account. */
  | 'registration-link'
  /** Notices by mail, by kind and account. */
  | 'notices'
  /** Passwords and proofs that schemes check, by address and by account. */
  | 'credentials-address'
  | 'credentials-account'
  /** Key exchanges, each of which adds a session, by address. */
  | 'exchange'
  /** Remembered authentications by SCRAM, by scheme, realm and account. */
  | 'reauthentication'
  /** Messages to a push resource by subscription, and messages of an application server by its key (RFC 8292). */
  | 'push-subscription'
  | 'push-key'
  /** Exchanges of the playground by address, and credentials that its spaces check. */
  | 'playground'
  | 'playground-credentials'
  /** Requests with an API key, by its id. */
  | 'api-key'
  /** Issued tokens of PrivateToken, by person and client. */
  | 'private-token'
  /** Verifications of PrivateToken by the issuer, by resource server. */
  | 'private-token-verification'
  /** Checks of PrivateToken by a resource server, by address. */
  | 'redemption'
  /** The store's time for changes of whole trees: by account or address, and of all together under `all`. */
  | 'whole-trees'
  | 'all-whole-trees';

/** Throttling: a token bucket for each namespace and key, shared by all processes. */
export interface Limits {
  /**
   * Takes one use from the bucket of `key`. If the bucket is empty, returns the seconds (>= 1) until a retry, at most
   * `per`, whatever an earlier rate or a clock has left behind. Answers at once if the process holds a part of the
   * bucket. Rejects with `StoreUnavailable`.
   */
  spend(namespace: LimitNamespace, key: string, rate: Rate): Awaitable<Spent>;
  /** Takes `amount` uses, or the rest, for work that was done already. Resolves to the number of remaining uses. */
  take(namespace: LimitNamespace, key: string, rate: Rate, amount: number): Promise<number>;
  /** Returns a use that this process took. A bucket never has more uses than its burst. */
  giveBack(namespace: LimitNamespace, key: string, rate: Rate): Promise<void>;
}

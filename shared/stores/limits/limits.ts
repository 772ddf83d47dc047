import type { Awaitable } from '#shared/base/awaitable.ts';

export interface Rate {
  /** How many may come at once. */
  readonly burst: number;
  /** Seconds after which one more is allowed. */
  readonly per: number;
}

export type Spent =
  | {
      readonly ok: true;
      /** How many more may come now. */
      readonly remaining: number;
      /** Seconds (>= 1) until the bucket is full again. */
      readonly reset: number;
    }
  | { readonly ok: false; readonly retryAfter: number };

/** All that is counted, and by what its buckets are named; `limits` of the configuration has the rates. */
export type LimitNamespace =
  /** Requests to what anybody may ask of the authorization server, by address. */
  | 'address'
  /** Token requests of a client, and its assertions at any endpoint, by its id. */
  | 'client'
  /** Rows that unknown visitors leave in the store, by address. */
  | 'visits'
  /** Those of all addresses together, under `all`. */
  | 'all-visits'
  /** Rows that wait in the store for signed-in people, by account. */
  | 'visits-account'
  /** Refresh tokens that were used and are remembered, by account. */
  | 'refresh-tokens'
  /** Revocations of single tokens, which every server remembers, by account. */
  | 'revocations'
  /** How often a client of GNAP asks whether somebody has decided, by grant (RFC 9635 section 5). */
  | 'gnap-poll'
  /** How often a device asks for its tokens, by device code (RFC 8628 section 3.5). */
  | 'device-poll'
  /** Clients that nobody registered, and that are kept because somebody allowed them something, by account. */
  | 'gnap-clients'
  | 'document-clients'
  /**
   * Descriptions of clients that are fetched, by the address that asks, under `all` those of all together, and by the
   * host that has them, and by both.
   */
  | 'documents-address'
  | 'documents-address-host'
  | 'documents-host'
  /** Descriptions of clients that are known, by client. */
  | 'documents-client'
  /** One-time codes, by account: at once, over days, and from browsers in which the person has used one before. */
  | 'second-factor'
  | 'second-factor-days'
  | 'second-factor-browsers'
  /** Codes of devices that somebody enters, by account; from one address, by that. */
  | 'user-code'
  | 'user-code-address'
  /** The few that an account has left where its address has none. */
  | 'user-code-strict'
  /** Passwords on the sign-in page: by name, by address, by name in a browser that is known, and in all of those. */
  | 'sign-in-name'
  | 'sign-in-address'
  | 'sign-in-browser'
  | 'sign-in-browsers'
  /** Links that are asked for by mail: by name, whether or not somebody has it, and by address. */
  | 'recovery-name'
  | 'recovery-address'
  /** Links by mail: by the address that they go to, and by the account that asks. */
  | 'mail-address'
  | 'mail-account'
  /** Links to make an account, by the network address that asks. */
  | 'registration-address'
  /** Names that somebody tries with a link to make an account, by the id that the account will have. */
  | 'registration-link'
  /** Messages that tell somebody what happened, by kind and account. */
  | 'notices'
  /** Passwords and proofs that schemes look at, by address and by account. */
  | 'credentials-address'
  | 'credentials-account'
  /** Key exchanges, each of which leaves a session, by address. */
  | 'exchange'
  /** Authentications by SCRAM that are remembered, by scheme, realm and account. */
  | 'reauthentication'
  /** Messages to a push resource, by subscription; those of an application server, by its key (RFC 8292). */
  | 'push-subscription'
  | 'push-key'
  /** Exchanges of the playground, by address, and credentials that its spaces look at. */
  | 'playground'
  | 'playground-credentials'
  /** Requests with an API key, by its id. */
  | 'api-key'
  /** Tokens of PrivateToken that are issued, by person and client. */
  | 'private-token'
  /** Tokens of PrivateToken that the issuer verifies, by resource server. */
  | 'private-token-verification'
  /** Tokens of PrivateToken that a resource server checks, by address. */
  | 'redemption'
  /** Time of the store that changes of whole trees take, by account or address; that of all together, under `all`. */
  | 'whole-trees'
  | 'all-whole-trees';

/** Throttling: a token bucket for each namespace and key, shared by all processes. */
export interface Limits {
  /**
   * Takes one from the bucket of `key`; when it is empty says after how many seconds (>= 1) to retry:
   * never more than `per`, whatever an earlier rate or a clock that was ahead has left behind. There at once
   * where the process holds some of the bucket. Rejects with `StoreUnavailable`.
   */
  spend(namespace: LimitNamespace, key: string, rate: Rate): Awaitable<Spent>;
  /** Takes so many, or as many as there are: for what was used already. Resolves to how many more may come then. */
  take(namespace: LimitNamespace, key: string, rate: Rate, amount: number): Promise<number>;
  /** Gives one back that this process took; a bucket is never fuller than full. */
  giveBack(namespace: LimitNamespace, key: string, rate: Rate): Promise<void>;
}

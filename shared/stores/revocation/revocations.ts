import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';

/**
 * Revocation: an append-only feed that every resource server follows.
 * `token` is a jti, `grant` a grant_id, `key` a kid; `person` and `client` carry a generation: a token
 * whose `sub_gen` or `client_gen` claim is lower than the generation in the feed is revoked.
 */
export type Revocation =
  | { readonly kind: 'token' | 'grant' | 'key'; readonly id: string }
  | { readonly kind: 'person' | 'client'; readonly id: string; readonly generation: number };

/** Why a token is refused; goes to the log, never to the client. */
export type RevokedBy = Revocation['kind'] | 'epoch';

/** The revocations as one process has them in memory, as fresh as the store allows. */
export interface RevocationView {
  /** Identifier of the store's memory that this is a view of. */
  readonly epoch: string | undefined;
  revokedBy(claims: RevocableClaims): RevokedBy | undefined;
  /**
   * The person's generation, 0 when it was never raised. One that was raised longer ago than any token
   * lives may be forgotten: what is compared with it must not be older than a token can be.
   */
  generation(id: string): number;
  /** How often a person's generation was raised so far, as far as this view goes. */
  readonly raises: number;
  /** Whether the person's generation was raised after there had been so many raises. */
  raisedSince(id: string, raises: number): boolean;
}

export interface RevocationFeed extends AsyncDisposable {
  /**
   * The view as it is known here, which is no verdict. Throws `StoreUnavailable` when none is: the store is silent past its
   * bound, was emptied and has no epoch yet, or was never read.
   */
  current(): RevocationView;
  /**
   * The view for a verdict: whatever was acknowledged before this call is in it. SQLite looks at its
   * file; Redis is asked, one question for all who wait. Throws or rejects like `current`.
   */
  latest(): RevocationView | Promise<RevocationView>;
  /** Called with each `key` revocation as it is applied. */
  onKeyRevoked(listener: (kid: string) => void): void;
  status(): RevocationStatus;
}

export interface RevocationStatus {
  readonly entries: number;
  readonly epoch: string | undefined;
  /** Position in the feed: a seq or a stream id. */
  readonly cursor: string;
  /** Milliseconds since the store was last heard of. */
  readonly silence: number;
  readonly trusted: boolean;
}

export interface Revocations {
  /** Appends; resolves only when durable as configured. `until`: milliseconds since the epoch, after which it may be forgotten. */
  revoke(kind: 'token' | 'grant' | 'key', id: string, until: number): Promise<void>;
  /** Raises the generation and appends it, atomically; resolves to the new generation. */
  raise(kind: 'person' | 'client', id: string, until: number): Promise<number>;
  /**
   * Resolves once all servers and followers know each revocation that a feed has shown before the call: whoever finds that
   * somebody else has revoked it already acknowledges no earlier.
   */
  untilKnown(): Promise<void>;
  /** 0 for a person or client that was never raised. Generations are never forgotten. */
  generation(kind: 'person' | 'client', id: string): Promise<number>;
  /** The epoch; made when absent and `create` is true (an AS), else undefined. */
  epoch(create: boolean): Promise<string | undefined>;
  /** Opens a feed of its own connection, which begins by reading everything. */
  feed(): Promise<RevocationFeed>;
}

import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';

/**
 * A revocation in the append-only feed that every resource server follows. `token`: a jti; `grant`: a grant_id; `key`:
 * a kid. `person` and `client` have a generation: a token with a lower `sub_gen` or `client_gen` is revoked.
 */
export type Revocation =
  | { readonly kind: 'token' | 'grant' | 'key'; readonly id: string }
  | { readonly kind: 'person' | 'client'; readonly id: string; readonly generation: number };

/** Why a token is refused: for the log, never for the client. */
export type RevokedBy = Revocation['kind'] | 'epoch';

/** The revocations that a process knows. */
export interface RevocationView {
  /** The epoch of the view. */
  readonly epoch: string | undefined;
  revokedBy(claims: RevocableClaims): RevokedBy | undefined;
  /** The person's generation, 0 if never raised. The view may forget a raise that is older than any token. */
  generation(id: string): number;
  /** The number of raises of people's generations in this view. */
  readonly raises: number;
  /** Whether the person's generation was raised after `raises` raises. */
  raisedSince(id: string, raises: number): boolean;
}

export interface RevocationFeed extends AsyncDisposable {
  /** Returns the known view, which is no verdict. Throws `StoreUnavailable` if it is too old or has no epoch. */
  current(): RevocationView;
  /** Returns the view for a verdict, with all acknowledged revocations. Throws or rejects like `current`. */
  latest(): RevocationView | Promise<RevocationView>;
  /** Calls the listener with each applied revocation of a key. */
  onKeyRevoked(listener: (kid: string) => void): void;
  status(): RevocationStatus;
}

export interface RevocationStatus {
  readonly entries: number;
  readonly epoch: string | undefined;
  /** The position in the feed: a seq. */
  readonly cursor: string;
  /** Milliseconds since the store last answered. */
  readonly silence: number;
  readonly trusted: boolean;
}

export interface Revocations {
  /** Appends a revocation durably. `until`: milliseconds since the epoch, after which it may be forgotten. */
  revoke(kind: 'token' | 'grant' | 'key', id: string, until: number): Promise<void>;
  /** Raises the generation and appends the revocation, atomically. Resolves to the new generation. */
  raise(kind: 'person' | 'client', id: string, until: number): Promise<number>;
  /** Resolves when all servers and followers know each revocation that a feed has returned before the call. */
  untilKnown(): Promise<void>;
  /** Returns 0 for a person or client whose generation was never raised. Generations are never forgotten. */
  generation(kind: 'person' | 'client', id: string): Promise<number>;
  /** Resolves to the epoch. If there is none and `create` is true (an authorization server), creates it. */
  epoch(create: boolean): Promise<string | undefined>;
  /** Opens a feed with its own connection, and reads all rows. */
  feed(): Promise<RevocationFeed>;
}

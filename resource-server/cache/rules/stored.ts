import type { Lines } from '../../forwarding/fields.ts';

/** The key under which an answer is stored, with its principal. */
export interface CacheKey {
  /**
   * Path and query in origin form, normalized by `groupOf`, without the gateway's own parameters. One invalidation
   * removes all answers with the same target.
   */
  readonly target: string;
  /** The principal in a private cache. Empty in a shared cache. */
  readonly whose: string;
  /**
   * Distinguishes answers of one target: by the client's spelling, by another scheme, and by the digest of a QUERY's
   * content (RFC 10008 section 2.7). Empty: the answer to a GET in the usual spelling.
   */
  readonly content: string;
}

/**
 * A field that the answer depends on (RFC 9111 section 4.1), in lower case, and its value in the request. Null: the
 * request lacks the field.
 */
export type Nominated = readonly [name: string, value: string | null];

/** A stored answer, without its content (RFC 9111 section 3). */
export interface Stored extends CacheKey {
  /** An id for the content, which is never reused. */
  readonly id: string;
  readonly status: number;
  /** The lines that clients get, without the framing fields. Age and Cache-Status as the application sent them. */
  readonly lines: Lines;
  /** Empty: the answer matches every request for its key. */
  readonly vary: readonly Nominated[];
  /** The times of the request and of the answer's arrival, in milliseconds since the epoch. */
  readonly requested: number;
  readonly received: number;
  /** Octets of content. Undefined while content of unknown length arrives. */
  readonly length: number | undefined;
  /** Names of groups for BAN (Surrogate-Key, Cache-Tag). */
  readonly tags: readonly string[];
  /** Whether a soft PURGE or BAN made the answer stale, so that it is validated before use. */
  readonly outdated: boolean;
}

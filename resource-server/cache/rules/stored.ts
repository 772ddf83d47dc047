import type { Lines } from '../../forwarding/fields.ts';

/** Where an answer is looked for, and for whom. */
export interface CacheKey {
  /** Path and query in the one spelling of `groupOf`, in origin form, without our own parameters: all of it is forgotten together. */
  readonly target: string;
  /** Whose: a principal's of a cache that is private; empty in a shared one. */
  readonly whose: string;
  /**
   * Tells answers of one target apart: the client's spelling of it, another scheme, and the digest of a QUERY's content
   * with the fields that describe it (RFC 10008 section 2.7). Empty: the answer to a GET in the usual spelling.
   */
  readonly content: string;
}

/** A field that the answer depends on (RFC 9111 section 4.1), in lower case, and its value in the request; null: it had none. */
export type Nominated = readonly [name: string, value: string | null];

/** A stored answer, without its content (RFC 9111 section 3). */
export interface Stored extends CacheKey {
  /** Names its content; never given again. */
  readonly id: string;
  readonly status: number;
  /** As clients get them, but for those of framing; Age and Cache-Status as they came. */
  readonly lines: Lines;
  /** None: it answers every request for its key. */
  readonly vary: readonly Nominated[];
  /** When it was asked for and when it came, in milliseconds since the epoch. */
  readonly requested: number;
  readonly received: number;
  /** Octets of content; undefined while it comes and nobody has said. */
  readonly length: number | undefined;
  /** Names of groups that BAN knows (Surrogate-Key, Cache-Tag). */
  readonly tags: readonly string[];
  /** Was made stale by a soft PURGE or BAN: is validated before it is used. */
  readonly outdated: boolean;
}

import type { Awaitable } from '#shared/base/awaitable.ts';
import type { CacheKey, Stored } from '../rules/stored.ts';

/** The stored answers of one space, in memory or on disk. Both pass one contract suite. */
export interface CacheStore extends AsyncDisposable {
  /** Returns all variants of a key, the most recently received first. */
  find(key: CacheKey): Awaitable<readonly Stored[]>;
  /**
   * Begins to store an answer, which `find` returns only after `commit`. Undefined: the store refuses the answer, for
   * example because it is too long.
   */
  begin(stored: Stored): Writing | undefined;
  /**
   * Replaces the stored answer with the same `id`, whose content stays (RFC 9111 section 4.3.4). Does nothing if that
   * answer was removed.
   */
  replace(stored: Stored): Awaitable<void>;
  remove(stored: Pick<Stored, 'id' | 'target'>): Awaitable<void>;
  /**
   * Removes all answers of a target, of all principals and requests. `soft`: marks them as outdated instead. Returns
   * their number.
   */
  removeTarget(target: string, soft: boolean): Awaitable<number>;
  /**
   * Removes all matching answers, in slices between which the event loop does other work. `soft`: as above. Resolves to
   * their number.
   */
  removeWhere(matches: (stored: Stored) => boolean, soft: boolean): Promise<number>;
  /**
   * Undefined: the content was removed. The caller closes the content. Until then it stays readable, even if the answer
   * is removed.
   */
  content(stored: Stored): Awaitable<Content | undefined>;
  /** Everything. */
  clear(): Awaitable<void>;
  /** Returns the number of entries, and of their octets, descriptions included. */
  stats(): { readonly entries: number; readonly octets: number };
}

/** Content that can be read while it arrives and afterwards. */
export interface Content {
  /** The content as one buffer, if it is in memory. */
  readonly whole?: Buffer;
  /** Reads at most `most` of the available octets from `position` on. The returned octets never change. */
  read(position: number, most: number): Awaitable<Buffer>;
  close(): void;
}

/**
 * An answer that is being stored. The caller of `begin` finishes it with `commit` or `abandon`, and closes it after the
 * last reader.
 */
export interface Writing extends Content {
  /** The number of appended octets, which can be read. */
  readonly length: number;
  /**
   * Appends a piece, after the previous call has resolved. False: the store stops, since the answer is too long or
   * there is no room. Pieces appended before stay readable.
   */
  append(piece: Buffer): Awaitable<boolean>;
  /**
   * Finishes the answer: it is found from now on and replaces the answers with the ids `replaces`. Undefined: it is not
   * stored.
   */
  commit(replaces: readonly string[]): Awaitable<Stored | undefined>;
  /** Gives up storing the answer. Its octets stay readable until `close`. */
  abandon(): void;
}

import type { Awaitable } from '#shared/base/awaitable.ts';
import type { CacheKey, Stored } from '../rules/stored.ts';

/** The answers of one space, in memory or on disk: one contract suite for both. */
export interface CacheStore extends AsyncDisposable {
  /** All variants of a key, the one that was received last first. */
  find(key: CacheKey): Awaitable<readonly Stored[]>;
  /**
   * Begins to keep an answer; nobody finds it before `commit`. Undefined: it will not be kept, such as one whose
   * length is more than is taken.
   */
  begin(stored: Stored): Writing | undefined;
  /** In place of the one with the same `id`, whose content it keeps (RFC 9111 section 4.3.4); of one that is gone, nothing. */
  replace(stored: Stored): Awaitable<void>;
  remove(stored: Pick<Stored, 'id' | 'target'>): Awaitable<void>;
  /** All of a target, no matter who they are for and whatever was asked; `soft`: they are outdated. Returns how many there were. */
  removeTarget(target: string, soft: boolean): Awaitable<number>;
  /** All that match, in slices between which others have their turn; `soft` as above. Resolves to their number. */
  removeWhere(matches: (stored: Stored) => boolean, soft: boolean): Promise<number>;
  /** Undefined: it is gone. The caller closes it; until then it can be read, even if it is removed meanwhile. */
  content(stored: Stored): Awaitable<Content | undefined>;
  /** Everything. */
  clear(): Awaitable<void>;
  /** Counts the entries now, and their octets with those of their descriptions. */
  stats(): { readonly entries: number; readonly octets: number };
}

/** Content that can be read while it comes and afterwards. */
export interface Content {
  /** All of it where it is in memory as one. */
  readonly whole?: Buffer;
  /** At most `most` octets from `position` on, of those that are there; the octets stay as they are. */
  read(position: number, most: number): Awaitable<Buffer>;
  close(): void;
}

/** An answer as it comes. The caller that began it ends it with `commit` or `abandon`, and closes it when nobody reads any more. */
export interface Writing extends Content {
  /** Octets that were appended so far and can be read. */
  readonly length: number;
  /** In turn: the next when this has resolved. False: it is kept no longer, since it is too long or there is no room; what was appended before stays readable. */
  append(piece: Buffer): Awaitable<boolean>;
  /** It is whole: found from now on, in place of what it `replaces` (their ids). Undefined: it is kept no longer. */
  commit(replaces: readonly string[]): Awaitable<Stored | undefined>;
  /** It is not kept. What is there can be read until it is closed. */
  abandon(): void;
}

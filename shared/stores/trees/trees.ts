import type { Clock } from '#shared/base/clock.ts';
/** A resource in a tree. Its path has names joined by `/`; the path of the root is ''. */
interface Common {
  readonly path: string;
  /** A new value after each `put`. A change names the expected value. */
  readonly revision: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly modified: number;
  /** Dead properties (RFC 4918 section 4): the XML of each element, by `{namespace}name`. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface Document extends Common {
  readonly kind: 'document';
  /** Strong entity tag of the content, without quotes (RFC 9110 section 8.8.3). */
  readonly etag: string;
  readonly type: string;
  readonly length: number;
  /** The name of the content, which is in a file or a row and never changes. Copies share it. */
  readonly file: string;
}

export interface Collection extends Common {
  readonly kind: 'collection';
  /** Given by the store, and unique; ignored in a `put`. */
  readonly id?: string;
}

export type Entry = Document | Collection;

/** An entry in a listing, without dead properties, which may be long. */
export type Listed = Omit<Document, 'properties'> | Omit<Collection, 'properties' | 'id'>;

/** The members of a collection at one moment. */
export interface Listing {
  /** `Trees.version` at that moment. */
  readonly version: string | undefined;
  readonly members: readonly Listed[];
}

/** A write lock (RFC 4918 section 6). An expired lock may still be listed. */
export interface Lock {
  /** `urn:uuid:…` */
  readonly token: string;
  /** Path of the locked resource. */
  readonly root: string;
  /** True for Depth: infinity. */
  readonly deep: boolean;
  readonly exclusive: boolean;
  /** XML of the client's description of the owner, or ''. */
  readonly owner: string;
  /** The principal that made the lock, and may use it. */
  readonly principal: string;
  /** The granted time. */
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** A part of a tree at one moment. */
export interface TreeView {
  /** The entry at each requested path. */
  readonly entries: ReadonlyMap<string, Entry | undefined>;
  readonly locks: readonly Lock[];
  /** A new value after each added, replaced or removed lock. */
  readonly locksVersion: string;
  readonly usage: Usage;
}

export interface Usage {
  /** Bytes of content and dead properties (`bytesOf`). A copy counts like an original. */
  readonly bytes: number;
  /** Documents and collections. */
  readonly entries: number;
}

/** The limits of a tree. */
export interface Quota extends Usage {
  /** Bytes of dead properties alone (`propertyBytesOf`): rows are read, copied and moved with them. */
  readonly properties: number;
}

/**
 * The root cannot be removed, moved, or be the target of a move or copy. A put, moved or copied resource goes into an
 * existing collection (RFC 4918 section 5.1). Removing, moving or copying an absent resource has no effect. A moved or
 * copied resource counts as modified at `at`, in milliseconds since the epoch, so that Last-Modified of a URL does not
 * go back (section 8.8). A copy counts as created at `at`, too, and otherwise equals its original.
 */
export type Edit =
  /**
   * Adds a resource, or replaces one of the same kind, whose members stay. `content`: of a document, at most
   * `longestContent` bytes. The store keeps it while a resource names it.
   */
  | { readonly kind: 'put'; readonly entry: Entry; readonly content?: Uint8Array }
  /** Removes a resource with everything below it. `move` and `copy` include everything below, too. */
  | { readonly kind: 'remove'; readonly path: string }
  /**
   * Nothing is at `to`, or an earlier edit has removed it; neither path is below the other. If a resulting path has
   * more than `longest` bytes in UTF-8, the change is refused.
   */
  | {
      readonly kind: 'move';
      readonly from: string;
      readonly to: string;
      readonly at: number;
      readonly longest: number;
    }
  /** Like `move`. `deep: false` leaves out everything below, and allows `to` below `from`. */
  | {
      readonly kind: 'copy';
      readonly from: string;
      readonly to: string;
      readonly deep: boolean;
      readonly at: number;
      readonly longest: number;
    }
  /** Adds a lock, or replaces the lock with its token. */
  | { readonly kind: 'lock'; readonly lock: Lock }
  /** Removes the existing ones of these locks. */
  | { readonly kind: 'unlock'; readonly locks: readonly Pick<Lock, 'token' | 'root'>[] };

export interface Change {
  /** The revision that was seen at each path; undefined: nothing was there. */
  readonly seen: ReadonlyMap<string, string | undefined>;
  /** The seen version of the locks. Later changes of locks must not concern the change (`lockReach`). */
  readonly locksVersion: string;
  readonly edits: readonly Edit[];
  /** The limits of the tree after the edits. A change is refused only for a limit to whose use it adds. */
  readonly quota: Quota;
}

/** Files of content that no resource of the tree names. */
export interface Cleared {
  readonly tree: string;
  readonly released: readonly string[];
}

export type CommitOutcome =
  /** `released`: files of content that no resource names. After large removals, `clear` returns more. */
  | { readonly kind: 'done'; readonly released: readonly string[] }
  /** The tree has changed since it was read. Nothing was done. */
  | { readonly kind: 'conflict' }
  /** The quota is exceeded. Nothing was done. */
  | { readonly kind: 'full' }
  /** A path would be longer than a move or copy allows. Nothing was done. */
  | { readonly kind: 'too long' };

/**
 * Trees of resources and their locks. A `commit` is one transaction for all processes. A tree has any string as its
 * name, and need not be created.
 */
export interface Trees {
  /** The time of changes: one clock for all processes, so that Last-Modified stays right (RFC 4918 section 8.8). */
  readonly clock: Pick<Clock, 'now'>;
  /** Bytes of the longest content in the store, which is not read with the rows that name it. -1: none. */
  readonly longestContent: number;
  get(tree: string, path: string): Promise<Entry | undefined>;
  look(tree: string, paths: readonly string[]): Promise<TreeView>;
  /**
   * A new value after each commit, never that of another state, even after a restore. So data that is derived from a
   * version stays right for that version. Undefined: the tree has no version, and derived data must not be remembered.
   */
  version(tree: string): Promise<string | undefined>;
  /**
   * Returns at most `limit` direct members of a collection after the name `after`, in the order of the bytes of their
   * names. A collection with an id is found wherever it is, and its members get paths below `path`. Undefined: the
   * collection is gone, moved or changed.
   */
  members(
    tree: string,
    collection: Pick<Collection, 'path' | 'id'>,
    after: string,
    limit: number,
  ): Promise<readonly Entry[] | undefined>;
  /** Returns members like `members`, of the collection at a path, without dead properties. Undefined: no collection. */
  list(tree: string, path: string, after: string, limit: number): Promise<Listing | undefined>;
  /**
   * Returns at most `limit` resources below a path at one moment, by the path of the collection and then by name, both
   * in the order of their bytes: each collection before its members.
   */
  below(tree: string, path: string, limit: number): Promise<readonly Entry[]>;
  /** Rejects with `ImpossibleEdit`, and does nothing, if an edit is invalid in the tree that was seen. */
  commit(tree: string, change: Change): Promise<CommitOutcome>;
  /** Returns the content; undefined: no resource names it, or it is a file. */
  content(tree: string, file: string): Promise<Buffer | undefined>;
  /** Removes some rows of removed collections and unfinished copies. Undefined: nothing is left. */
  clear(): Promise<Cleared | undefined>;
  /** Returns the files of content that a resource of the tree, or a row that waits for `clear`, names. */
  files(tree: string): Promise<ReadonlySet<string>>;
}

/** The edit is invalid: it would leave something that is no tree. */
export class ImpossibleEdit extends Error {
  override readonly name = 'ImpossibleEdit';
}

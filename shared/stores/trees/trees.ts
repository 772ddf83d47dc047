import type { Clock } from '#shared/base/clock.ts';
/** A resource as the store knows it, in a tree: at a path of names joined by `/`; the root's is ''. */
interface Common {
  readonly path: string;
  /** Another one with each `put`; what a change expects to find. */
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
  /** Name of the content, which is in a file or a row and never changes; copies share it. */
  readonly file: string;
}

export interface Collection extends Common {
  readonly kind: 'collection';
  /** The store gives it, and no other collection has it; ignored in a `put`. */
  readonly id?: string;
}

export type Entry = Document | Collection;

/** An entry in a listing. Dead properties are left out: those of many entries may be long. */
export type Listed = Omit<Document, 'properties'> | Omit<Collection, 'properties' | 'id'>;

/** The members of a collection at one moment. */
export interface Listing {
  /** As `Trees.version` at that moment. */
  readonly version: string | undefined;
  readonly members: readonly Listed[];
}

/** A write lock (RFC 4918 section 6). One that has expired may still be listed. */
export interface Lock {
  /** `urn:uuid:…` */
  readonly token: string;
  /** Path of the resource that was locked. */
  readonly root: string;
  /** Depth: infinity. */
  readonly deep: boolean;
  readonly exclusive: boolean;
  /** XML of what the client says of the owner; ''. */
  readonly owner: string;
  /** The principal that made it, and may use it. */
  readonly principal: string;
  /** As it was granted. */
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Several things of a tree as they were at one moment. */
export interface TreeView {
  /** The entry at each path that was asked for. */
  readonly entries: ReadonlyMap<string, Entry | undefined>;
  readonly locks: readonly Lock[];
  /** Another one whenever a lock was added, replaced or removed. */
  readonly locksVersion: string;
  readonly usage: Usage;
}

export interface Usage {
  /** Bytes of content and dead properties (`bytesOf`); a copy counts as if it had its own. */
  readonly bytes: number;
  /** Documents and collections. */
  readonly entries: number;
}

/** The bounds of a tree. */
export interface Quota extends Usage {
  /** Bytes of the dead properties alone (`propertyBytesOf`): rows are read, copied and moved with theirs. */
  readonly properties: number;
}

/**
 * The root cannot be removed, moved, or be where something is moved or copied to. A resource that is put, moved
 * or copied goes into a collection that is there (RFC 4918 section 5.1); the root always is. Edits that
 * remove, move or copy an absent resource have no effect. All that is moved or copied has been modified at `at`,
 * in milliseconds since the epoch, so that the Last-Modified of a URL does not go back (section 8.8). A copy
 * was created then, too; else it is like its original in all but its path.
 */
export type Edit =
  /**
   * Adds a resource or replaces the one there, which is of the same kind and whose members stay. `content`: of
   * a document, which the store is to keep for as long as its name is named; at most `longestContent`.
   */
  | { readonly kind: 'put'; readonly entry: Entry; readonly content?: Uint8Array }
  /** With all that is below it, as of the next two. */
  | { readonly kind: 'remove'; readonly path: string }
  /**
   * There is nothing at `to`, or an edit before this one has removed it; neither path is below the other.
   * No path that comes of it has more than `longest` bytes in UTF-8, or the change is refused.
   */
  | {
      readonly kind: 'move';
      readonly from: string;
      readonly to: string;
      readonly at: number;
      readonly longest: number;
    }
  /** As `move`; `deep`: false leaves out what is below, and may have `to` below `from`. */
  | {
      readonly kind: 'copy';
      readonly from: string;
      readonly to: string;
      readonly deep: boolean;
      readonly at: number;
      readonly longest: number;
    }
  /** Adds a lock, or replaces the one with its token. */
  | { readonly kind: 'lock'; readonly lock: Lock }
  /** Removes those of them that are there. */
  | { readonly kind: 'unlock'; readonly locks: readonly Pick<Lock, 'token' | 'root'>[] };

export interface Change {
  /** The revision of what was seen at each path; undefined: there was nothing. */
  readonly seen: ReadonlyMap<string, string | undefined>;
  /** As it was seen: what has been locked and unlocked since has to be out of reach (`lockReach`). */
  readonly locksVersion: string;
  /** Done in this order. */
  readonly edits: readonly Edit[];
  /** The bounds of the tree after the edits. A change is refused only for a bound that it adds to. */
  readonly quota: Quota;
}

/** Content files of a tree that no resource names any more. */
export interface Cleared {
  readonly tree: string;
  readonly released: readonly string[];
}

export type CommitOutcome =
  /**
   * `released`: content files that no resource of the tree names any more; in the store there is no such content. `clear`
   * tells of more where a large collection was removed.
   */
  | { readonly kind: 'done'; readonly released: readonly string[] }
  /** The tree has changed since it was looked at; nothing was done. */
  | { readonly kind: 'conflict' }
  /** The quota does not allow it; nothing was done. */
  | { readonly kind: 'full' }
  /** A path would be longer than a move or copy allows; nothing was done. */
  | { readonly kind: 'too long' };

/**
 * Trees of resources and their locks. One `commit` is one transaction, also between processes: all of
 * its edits are done or none, whatever crashes. A tree is named by any string and needs no making.
 */
export interface Trees {
  /** When resources are changed: the same clock in all processes, so that Last-Modified does not go back (RFC 4918 section 8.8). */
  readonly clock: Pick<Clock, 'now'>;
  /** Bytes of the longest content that the store keeps; it is not read with the rows that name it. -1: none. */
  readonly longestContent: number;
  get(tree: string, path: string): Promise<Entry | undefined>;
  look(tree: string, paths: readonly string[]): Promise<TreeView>;
  /**
   * Another one with each commit that changes anything, and never one of another state, be the store restored:
   * what was made of a version is right for everybody who finds that version. Undefined: nothing was committed since
   * there are versions, and nothing may be remembered.
   */
  version(tree: string): Promise<string | undefined>;
  /**
   * Returns the direct members of a collection after that name, by the bytes of their names; at most `limit`. A collection
   * with an id is found wherever it is, and its members have the paths that they had at `path`. Undefined: it is not there
   * (any more); a store may say so of one that was moved or changed, too.
   */
  members(
    tree: string,
    collection: Pick<Collection, 'path' | 'id'>,
    after: string,
    limit: number,
  ): Promise<readonly Entry[] | undefined>;
  /** The same of the collection at a path, without reading dead properties. Undefined: there is none. */
  list(tree: string, path: string, after: string, limit: number): Promise<Listing | undefined>;
  /**
   * All that is below a path at one moment, by the path of its collection and then by its name, both in the
   * order of their bytes: each collection comes before its members. At most `limit`.
   */
  below(tree: string, path: string, limit: number): Promise<readonly Entry[]>;
  /**
   * Rejects with `ImpossibleEdit`, and does nothing, if an edit is invalid. It judges edits by the tree only after
   * it has compared the tree with `seen`.
   */
  commit(tree: string, change: Change): Promise<CommitOutcome>;
  /** Content that was put; undefined: nothing names it any more, or it is a file. */
  content(tree: string, file: string): Promise<Buffer | undefined>;
  /**
   * Removes in one short transaction some of what was below removed collections, and of copies that were never finished.
   * Clients see nothing of it: they count it no more. Undefined: nothing is left.
   */
  clear(): Promise<Cleared | undefined>;
  /** Content files that some resource of the tree names, or what is still to be cleared. */
  files(tree: string): Promise<ReadonlySet<string>>;
}

/** A mistake of who asked for the edit: it would leave something that is no tree. */
export class ImpossibleEdit extends Error {
  override readonly name = 'ImpossibleEdit';
}

import type { Edit, Lock, TreeView } from '#shared/stores/trees/trees.ts';

/** What a request is about to change. */
export interface Write {
  readonly path: string;
  /** And all below it. Who adds or removes a member changes its collection too (RFC 4918 section 7.4). */
  readonly deep: boolean;
}

/** What a client asks for with LOCK. `seconds`: Infinity for as long as possible. */
export type LockRequest = Omit<Lock, 'token' | 'expires'>;

/**
 * Write locks (RFC 4918 sections 6 and 7), judged over a view of the tree; they are kept with it, so
 * that a lock and a write never miss one another. Locks that have expired count for nothing.
 */
export interface LockSystem {
  /** Locks in force on a path: its own, and deep ones of the collections above it. */
  covering(view: TreeView, path: string): readonly Lock[];
  /**
   * The locked resources that a write changes, each with the locks in force on it: the path of the
   * write, and of a deep one the roots of locks below it. It needs a token of one lock of each.
   */
  needed(view: TreeView, write: Write): ReadonlyMap<string, readonly Lock[]>;
  /** Locks in force that a new one must not stand beside (section 9.10.5). */
  conflicting(view: TreeView, request: LockRequest): readonly Lock[];
  /** A lock that conflicts with none. Throws `HttpError` 507 when there are too many. */
  create(
    view: TreeView,
    request: LockRequest,
  ): { readonly lock: Lock; readonly edits: readonly Edit[] };
  /** The lock with a new timeout (section 7.7). `seconds`: Infinity for as long as possible. */
  refresh(lock: Lock, seconds: number): { readonly lock: Lock; readonly edits: readonly Edit[] };
  /** What removes the locks of a resource that goes, and of all below it; expired ones with them. */
  release(view: TreeView, path: string): readonly Edit[];
  /** The same of what is below a resource that is replaced: its own locks stay (section 7.6). */
  releaseBelow(view: TreeView, path: string): readonly Edit[];
}

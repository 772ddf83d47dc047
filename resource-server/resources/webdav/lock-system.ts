import type { Edit, Lock, TreeView } from '#shared/stores/trees/trees.ts';

/** A change that a request is about to make. */
export interface Write {
  readonly path: string;
  /**
   * Whether the write includes everything below. Adding or removing a member also changes its collection (RFC 4918
   * section 7.4).
   */
  readonly deep: boolean;
}

/** A client's LOCK request. `seconds`: Infinity for as long as possible. */
export type LockRequest = Omit<Lock, 'token' | 'expires'>;

/**
 * Write locks (RFC 4918 sections 6 and 7), evaluated by a view of the tree. They are stored with the tree, so that a
 * lock and a write never miss one another. Expired locks are ignored.
 */
export interface LockSystem {
  /** Returns the locks in force on a path: those on the path itself, and deep locks on the collections above. */
  covering(view: TreeView, path: string): readonly Lock[];
  /**
   * Returns the locked resources that a write changes, each with the locks in force on it. They are the path of the
   * write and, if the write is deep, the roots of locks below. The write needs a token of one lock of each.
   */
  needed(view: TreeView, write: Write): ReadonlyMap<string, readonly Lock[]>;
  /** Returns the locks in force that conflict with a new one (section 9.10.5). */
  conflicting(view: TreeView, request: LockRequest): readonly Lock[];
  /** Makes a lock, which must not conflict with another. Throws `HttpError` 507 if there are too many locks. */
  create(
    view: TreeView,
    request: LockRequest,
  ): { readonly lock: Lock; readonly edits: readonly Edit[] };
  /** Returns the lock with a new timeout (section 7.7). `seconds`: Infinity for as long as possible. */
  refresh(lock: Lock, seconds: number): { readonly lock: Lock; readonly edits: readonly Edit[] };
  /**
   * Returns the edits that remove the locks of a removed resource and of everything below it, together with
   * expired ones.
   */
  release(view: TreeView, path: string): readonly Edit[];
  /** Returns the edits that remove the locks below a replaced resource, which keeps its own locks (section 7.6). */
  releaseBelow(view: TreeView, path: string): readonly Edit[];
}

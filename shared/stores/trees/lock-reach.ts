import { byKind, type ByKind } from './edits.ts';
import type { Change } from './trees.ts';

/** The locks of the tree by which a change was judged. */
export interface LockReach {
  /** Locks at these paths, and at the collections above them. */
  readonly at: readonly string[];
  /** Locks within these collections. */
  readonly below: readonly string[];
}

/**
 * Versions of a tree's locks for which it is remembered what was locked and unlocked. A change that was
 * judged longer ago conflicts.
 */
export const LOCK_CHANGES = 500;

/**
 * Returns the paths where locks count for a change. A lock covers its root, and a deep one all below (RFC 4918
 * section 6.1). A resource that goes or comes with its members, and a deep lock, meet locks within, too (sections
 * 9.6.1 and 9.10.3).
 */
export function lockReach({ seen, edits }: Pick<Change, 'seen' | 'edits'>): LockReach {
  const met = edits.map((edit) => byKind(MEETS, edit, undefined));
  return {
    at: [...new Set([...seen.keys(), ...met.flatMap(({ at = [] }) => at)])],
    below: [...new Set(met.flatMap(({ below = [] }) => below))],
  };
}

/** Whether a lock with this root is within reach. */
export function reaches({ at, below }: LockReach, root: string): boolean {
  return (
    at.some((path) => path === root || isWithin(path, root)) ||
    below.some((path) => isWithin(root, path))
  );
}

function isWithin(path: string, collection: string): boolean {
  return collection === '' || path.startsWith(`${collection}/`);
}

const MEETS: ByKind<undefined, Partial<LockReach>> = {
  put: () => ({}),
  remove: ({ path }) => ({ below: [path] }),
  move: ({ from, to }) => ({ below: [from, to] }),
  copy: ({ to }) => ({ below: [to] }),
  lock: ({ lock: { root, deep } }) => ({ at: [root], below: deep ? [root] : [] }),
  unlock: ({ locks }) => ({ at: locks.map(({ root }) => root) }),
};

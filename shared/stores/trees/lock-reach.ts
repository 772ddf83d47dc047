import { byKind, type ByKind } from './edits.ts';
import type { Change } from './trees.ts';

/** The paths whose locks decide on a change. */
export interface LockReach {
  /** Locks at these paths, and at the collections above them. */
  readonly at: readonly string[];
  /** Locks within these collections. */
  readonly below: readonly string[];
}

/** Versions of a tree's locks whose changes are remembered. A change with an older version conflicts. */
export const LOCK_CHANGES = 500;

/**
 * Returns the paths whose locks matter for a change. A lock covers its root, and a deep one everything below (RFC 4918
 * section 6.1). A moved, copied or removed resource, and a deep lock, also meet the locks below (sections 9.6.1 and
 * 9.10.3).
 */
export function lockReach({ seen, edits }: Pick<Change, 'seen' | 'edits'>): LockReach {
  const met = edits.map((edit) => byKind(MEETS, edit, undefined));
  return {
    at: [...new Set([...seen.keys(), ...met.flatMap(({ at = [] }) => at)])],
    below: [...new Set(met.flatMap(({ below = [] }) => below))],
  };
}

/** Whether a lock with this root matters. */
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

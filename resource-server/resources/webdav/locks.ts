import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Edit, Lock, TreeView } from '#shared/stores/trees/trees.ts';
import type { LockSystem } from './lock-system.ts';

/** The limits of a timeout, in seconds. */
const SHORTEST = 1;
const LONGEST = 86_400;
/**
 * The most locks in force in a tree, and of one principal in it. Each request reads all locks of its tree, and forty
 * principals are needed to exhaust the tree's limit. Each process counts its own locks exactly, and learns of locks in
 * other processes a moment later.
 */
const MOST_IN_TREE = 2000;
const MOST_OF_PRINCIPAL = 50;

/**
 * Creates the lock system. Timeouts are bounded. `clock` decides when a lock has expired, `random` makes the
 * tokens.
 */
export function createLockSystem({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: Random;
}): LockSystem {
  function inForce({ locks }: TreeView): readonly Lock[] {
    const now = clock.now();
    return locks.filter(({ expires }) => expires > now);
  }
  const isOver = ({ expires }: Lock) => expires <= clock.now();

  const timed = (lock: Omit<Lock, 'seconds' | 'expires'>, wanted: number): Lock => {
    const seconds = Math.min(Math.max(wanted, SHORTEST), LONGEST);
    return { ...lock, seconds, expires: clock.now() + seconds * 1000 };
  };

  const unlock = (locks: readonly Lock[]): readonly Edit[] =>
    locks.length === 0 ? [] : [{ kind: 'unlock', locks }];

  return {
    covering: (view, path) => inForce(view).filter((lock) => covers(lock, path)),

    needed(view, { path, deep }) {
      const there = inForce(view);
      const roots = there.map(({ root }) => root);
      const changed = new Set([path, ...roots.filter((root) => deep && isBelow(root, path))]);
      const locked = [...changed].map(
        (one) => [one, there.filter((lock) => covers(lock, one))] as const,
      );
      return new Map(locked.filter(([, locks]) => locks.length > 0));
    },

    conflicting(view, { root, deep, exclusive }) {
      const shared = inForce(view).filter(
        (lock) => covers(lock, root) || (deep && isBelow(lock.root, root)),
      );
      return shared.filter((lock) => exclusive || lock.exclusive);
    },

    create(view, { seconds, ...request }) {
      const there = inForce(view);
      const own = there.filter(({ principal }) => principal === request.principal);
      if (there.length >= MOST_IN_TREE || own.length >= MOST_OF_PRINCIPAL) {
        throw new HttpError(507, 'There are too many locks: release some, or wait.');
      }
      const lock = timed({ ...request, token: `urn:uuid:${uuid(random)}` }, seconds);
      return { lock, edits: [...unlock(view.locks.filter(isOver)), { kind: 'lock', lock }] };
    },

    refresh(old, seconds) {
      const lock = timed(old, seconds);
      return { lock, edits: [{ kind: 'lock', lock }] };
    },

    release: (view, path) =>
      unlock(
        view.locks.filter((lock) => lock.root === path || isBelow(lock.root, path) || isOver(lock)),
      ),

    releaseBelow: (view, path) =>
      unlock(view.locks.filter((lock) => isBelow(lock.root, path) || isOver(lock))),
  };
}

/** True if a lock covers the path (RFC 4918 section 6.1): its root and, for a deep lock, everything below. */
function covers({ root, deep }: Lock, path: string): boolean {
  return root === path || (deep && isBelow(path, root));
}

/** True if the path is inside the collection. */
export function isBelow(path: string, collection: string): boolean {
  return collection === '' ? path !== '' : path.startsWith(`${collection}/`);
}

/** A UUID of version 4 (RFC 9562 section 5.4). */
function uuid(random: Random): string {
  const bytes = random(16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

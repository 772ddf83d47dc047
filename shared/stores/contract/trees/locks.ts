import { describe, expect, test } from '@jest/globals';
import type { Lock } from '../../trees/trees.ts';
import { edit, fresh, NO_QUOTA, puts, someDocument, someLock } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const MANY = 10_000;

/** The locks of a tree and their version (RFC 4918 section 6). */
export function locksContract(contract: () => Contract): void {
  describe('locks', () => {
    test('locks come and go with their version', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const look = async () => {
        const { locks, locksVersion } = await other.trees.look(tree, []);
        versions.push(locksVersion);
        return locks.toSorted((a: Lock, b: Lock) => a.root.localeCompare(b.root));
      };
      const versions: string[] = [];
      const [a, b] = [someLock('a'), someLock('b/ü', { deep: false, owner: '<o>{"😀}</o>' })];
      expect(await look()).toEqual([]);
      await edit(one, tree, [{ kind: 'lock', lock: a }]);
      await edit(one, tree, [{ kind: 'lock', lock: b }]);
      expect(await look()).toEqual([a, b]);
      const refreshed = { ...a, expires: a.expires + 1 };
      await edit(one, tree, [{ kind: 'lock', lock: refreshed }]);
      expect(await look()).toEqual([refreshed, b]);
      await edit(one, tree, [{ kind: 'unlock', locks: [a, someLock('x')] }]);
      expect(await look()).toEqual([b]);
      await edit(one, tree, [
        { kind: 'lock', lock: a },
        { kind: 'unlock', locks: [a, b] },
      ]);
      expect(await look()).toEqual([]);
      expect(new Set(versions).size).toBe(versions.length);
      await edit(one, tree, [{ kind: 'unlock', locks: [a] }, ...puts(someDocument('a'))]);
      await look();
      expect(versions.at(-1)).toBe(versions.at(-2));
    });

    test('one change can depend on many paths, and can remove many locks', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const names = Array.from({ length: MANY }, (_, n) => `n${n}`);
      await edit(
        one,
        tree,
        names.map((name) => ({ kind: 'lock', lock: someLock(name, { token: name }) })),
      );
      const { entries, locks, locksVersion } = await other.trees.look(tree, names);
      expect([entries.size, locks.length]).toEqual([MANY, MANY]);
      const outcome = await one.trees.commit(tree, {
        seen: new Map(names.map((name) => [name, undefined])),
        locksVersion,
        edits: [{ kind: 'unlock', locks }],
        quota: NO_QUOTA,
      });
      expect(outcome).toEqual({ kind: 'done', released: [] });
      expect((await other.trees.look(tree, [])).locks).toEqual([]);
    });
  });
}

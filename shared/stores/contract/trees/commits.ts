import { describe, expect, test } from '@jest/globals';
import { LOCK_CHANGES } from '../../trees/lock-reach.ts';
import type { Change, Edit, Quota } from '../../trees/trees.ts';
import {
  copy,
  edit,
  FAR,
  fresh,
  move,
  NO_QUOTA,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** The conditions under which a change is done. */
export function commitsContract(contract: () => Contract): void {
  describe('commits', () => {
    const look = (tree: string) => contract().other.trees.look(tree, []);

    test('RFC 9110 section 13.1: a change is done only if everything that it saw is unchanged', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const conflict = { kind: 'conflict' };
      const first = someDocument('a', { revision: 'v1' });
      expect(await edit(one, tree, puts(first), { a: 'v1' })).toEqual(conflict);
      expect(await edit(one, tree, puts(first), { a: undefined })).toMatchObject({ kind: 'done' });
      expect(await edit(other, tree, puts(someDocument('a')), { a: undefined })).toEqual(conflict);
      expect(await edit(other, tree, puts(someDocument('a')), { a: 'v0' })).toEqual(conflict);
      expect(await edit(other, tree, puts(someDocument('b')), { a: 'v1', b: 'v1' })).toEqual(
        conflict,
      );
      expect(await edit(other, tree, puts(someDocument('b')), { '': 'v1' })).toEqual(conflict);
      expect(await other.trees.below(tree, '', 9)).toEqual([first]);
      expect(await edit(other, tree, [], { a: 'v1', b: undefined, '': undefined })).toEqual({
        kind: 'done',
        released: [],
      });
      expect(await edit(other, tree, [], { a: undefined })).toEqual(conflict);
    });

    test('RFC 4918 section 7: a change is not done if a lock was added or removed since it looked', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const { locksVersion } = await look(tree);
      const change: Change = {
        seen: new Map([['a', undefined]]),
        locksVersion,
        edits: puts(someDocument('a')),
        quota: NO_QUOTA,
      };
      const lock = someLock('a');
      await edit(one, tree, [{ kind: 'lock', lock }]);
      expect(await other.trees.commit(tree, change)).toEqual({ kind: 'conflict' });
      await edit(one, tree, [{ kind: 'unlock', locks: [lock] }]);
      expect(await other.trees.commit(tree, change)).toEqual({ kind: 'conflict' });
      expect(await other.trees.get(tree, 'a')).toBeUndefined();
      const now = await look(tree);
      expect(
        await other.trees.commit(tree, { ...change, locksVersion: now.locksVersion }),
      ).toMatchObject({ kind: 'done' });
    });

    const covering = ['', 'a', 'a/b'] as const;
    const elsewhere = ['a/b-', 'a/c', 'a/', 'b', 'a/b/c'] as const;
    test.each(covering)('RFC 4918 section 6.1: a lock at `%s` may cover `a/b`', async (root) => {
      expect(await afterLock(root, puts(someDocument('a/b')), 'a/b')).toBe('conflict');
    });
    test.each(elsewhere)('a lock at `%s` does not cover `a/b`', async (root) => {
      expect(await afterLock(root, puts(someDocument('a/b')), 'a/b')).toBe('done');
    });

    const deep = [
      ['removed (section 9.6.1)', { kind: 'remove', path: 'a' }, 'a'],
      ['moved (section 9.9)', move('a', 'z'), 'a'],
      ['moved to (section 9.9.3)', move('a', 'z'), 'z'],
      ['copied to (section 9.8.4)', copy('a', 'z'), 'z'],
      ['locked with depth (section 9.10.3)', { kind: 'lock', lock: someLock('a') }, 'a'],
    ] as const;
    test.each(deep)(
      'RFC 4918: a lock below a collection that is %s conflicts with the edit',
      async (_, change, collection) => {
        for (const root of ['', collection, `${collection}/b`, `${collection}/b/c`]) {
          expect(await afterLock(root, [change], collection)).toBe('conflict');
        }
        for (const root of ['b', `${collection}-`, `b/${collection}`]) {
          expect(await afterLock(root, [change], collection)).toBe('done');
        }
      },
    );

    test('a lock below a collection does not conflict with a lock of depth 0 on it, nor with a copy of the collection', async () => {
      const alone: Edit = { kind: 'lock', lock: someLock('a', { deep: false }) };
      expect(await afterLock('a/b', [alone], 'a')).toBe('done');
      expect(await afterLock('a/b', [copy('a', 'x')], 'a', 'x')).toBe('done');
    });

    test('a refreshed lock is not removed by a caller that saw it expired', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const lock = someLock('a');
      await edit(one, tree, [{ kind: 'lock', lock }]);
      const { locks, locksVersion } = await other.trees.look(tree, ['b']);
      await edit(one, tree, [{ kind: 'lock', lock: { ...lock, expires: FAR } }]);
      const edits: Edit[] = [{ kind: 'unlock', locks }, ...puts(someDocument('b'))];
      const change = { seen: new Map([['b', undefined]]), locksVersion, edits, quota: NO_QUOTA };
      expect(await other.trees.commit(tree, change)).toEqual({ kind: 'conflict' });
      expect((await look(tree)).locks).toEqual([{ ...lock, expires: FAR }]);
    });

    test('an edit conflicts if too many locks were set since it was judged, or if the store was replaced since', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const seen = new Map([['a', undefined]]);
      const put = (locksVersion: string) =>
        other.trees.commit(tree, {
          seen,
          locksVersion,
          edits: puts(someDocument('a')),
          quota: NO_QUOTA,
        });
      const { locksVersion: first } = await look(tree);
      const lock = someLock('b');
      await edit(one, tree, [{ kind: 'lock', lock }]);
      const { locksVersion: second } = await look(tree);
      for (let turn = 0; turn < LOCK_CHANGES; turn += 1) {
        await edit(one, tree, [{ kind: 'lock', lock }]);
      }
      expect(await put(first)).toEqual({ kind: 'conflict' });
      const { locksVersion: now } = await look(tree);
      expect(await put(String(Number(now) + 1))).toEqual({ kind: 'conflict' });
      expect(await put(second)).toMatchObject({ kind: 'done' });
    });

    /**
     * Commits edits that were judged by these paths before another client set a lock at `root`, and returns the
     * outcome.
     */
    async function afterLock(root: string, edits: readonly Edit[], ...paths: string[]) {
      const { one, other } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('a')));
      const { entries, locksVersion } = await other.trees.look(tree, paths);
      const seen = new Map([...entries].map(([path, entry]) => [path, entry?.revision]));
      await edit(one, tree, [{ kind: 'lock', lock: someLock(root) }]);
      return (await other.trees.commit(tree, { seen, locksVersion, edits, quota: NO_QUOTA })).kind;
    }

    test('RFC 4918 section 7: a put into a collection conflicts after it moved; a document put before moves along', async () => {
      const { one, other } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('a', { revision: 'v1' })));
      const change = async (edits: readonly Edit[], ...paths: string[]): Promise<Change> => {
        const { entries, locksVersion } = await other.trees.look(tree, paths);
        const seen = new Map([...entries].map(([path, entry]) => [path, entry?.revision]));
        return { seen, locksVersion, edits, quota: NO_QUOTA };
      };
      const put = (path: string) => change(puts(someDocument(path)), 'a', path);
      const moving = await change([move('a', 'b')], 'a', 'b');
      const [early, late] = [await put('a/early'), await put('a/late')];
      for (const before of [early, moving]) {
        expect(await one.trees.commit(tree, before)).toMatchObject({ kind: 'done' });
      }
      expect(await other.trees.commit(tree, late)).toEqual({ kind: 'conflict' });
      const paths = (await other.trees.below(tree, '', 9)).map((entry) => entry.path);
      expect(paths).toEqual(['b', 'b/early']);
    });

    test('a conflict is found before an impossible edit, which a change meanwhile made impossible', async () => {
      const { one } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someDocument('a')));
      const collection = puts(someCollection('a'));
      expect(await edit(one, tree, collection, { a: undefined })).toEqual({ kind: 'conflict' });
    });

    test('RFC 4331 section 3: a change that ends above the quota is refused, and nothing is done', async () => {
      const { one } = contract();
      const tree = fresh();
      const full = { kind: 'full' };
      const put = (path: string, length: number, quota: Partial<Quota>) =>
        edit(one, tree, puts(someDocument(path, { length })), {}, { ...NO_QUOTA, ...quota });
      expect(await put('a', 11, { bytes: 10 })).toEqual(full);
      expect(await put('a', 10, { bytes: 10, entries: 1 })).toMatchObject({ kind: 'done' });
      expect(await put('b', 1, { bytes: 10 })).toEqual(full);
      expect(await put('b', 0, { entries: 1 })).toEqual(full);
      expect(await put('b', 0, { bytes: 10, entries: 2 })).toMatchObject({ kind: 'done' });
      const before = await one.trees.below(tree, '', 9);
      const lock: Edit = { kind: 'lock', lock: someLock('a') };
      const gone: Edit = { kind: 'remove', path: 'b' };
      expect(
        await edit(
          one,
          tree,
          [lock, gone, copy('a', 'c')],
          {},
          { ...NO_QUOTA, bytes: 19, entries: 9 },
        ),
      ).toEqual(full);
      expect(await one.trees.below(tree, '', 9)).toEqual(before);
      expect(await look(tree)).toMatchObject({ locks: [], usage: { bytes: 10, entries: 2 } });
      const enough = { ...NO_QUOTA, bytes: 20, entries: 3 };
      expect(await edit(one, tree, [copy('a', 'c')], {}, enough)).toMatchObject({ kind: 'done' });
    });

    test('RFC 4331 section 3: dead properties of documents and collections count against the quota, in bytes of UTF-8', async () => {
      const { one } = contract();
      const tree = fresh();
      // 6 bytes of name and 4 of value; 6 and 12.
      const [short, long] = [{ '{x:}é': '<y/>' }, { '{x:}é': '<y>"😀</y>' }];
      const root = (properties: Readonly<Record<string, string>>) =>
        puts(someCollection('', { properties }));
      const within = async (bytes: number, ...edits: Edit[]) =>
        (await edit(one, tree, edits, {}, { ...NO_QUOTA, bytes })).kind;
      const bytes = async () => (await look(tree)).usage.bytes;

      expect(await within(9, ...root(short))).toBe('full');
      expect(await one.trees.get(tree, '')).toBeUndefined();
      expect(await within(10, ...root(short))).toBe('done');
      const document = someDocument('a', { length: 5, properties: short });
      expect(await within(24, ...puts(document))).toBe('full');
      expect(await within(25, ...puts(document))).toBe('done');
      expect(await bytes()).toBe(25);
      const grown = puts({ ...document, properties: long });
      expect(await within(32, ...grown)).toBe('full');
      expect(await one.trees.get(tree, 'a')).toEqual(document);
      expect(await within(33, ...grown)).toBe('done');
      expect(await within(0, ...root({}))).toBe('done');
      expect(await within(45, copy('a', 'b'))).toBe('full');
      expect(await within(46, copy('a', 'b'))).toBe('done');
      expect(await within(0, move('a', 'c'))).toBe('done');
      expect(await bytes()).toBe(46);
      expect(await within(0, ...puts(someDocument('b', { length: 22 })))).toBe('done');
      expect(await within(0, { kind: 'remove', path: 'c' })).toBe('done');
      expect(await bytes()).toBe(22);
    });

    test('RFC 4918 section 4: dead properties have a quota of their own, which content does not use up', async () => {
      const { one } = contract();
      const tree = fresh();
      // 6 bytes of name and 4 of value.
      const properties = { '{x:}é': '<y/>' };
      const within = async (most: number, ...edits: Edit[]) =>
        (await edit(one, tree, edits, {}, { ...NO_QUOTA, properties: most })).kind;

      expect(await within(9, ...puts(someCollection('', { properties })))).toBe('full');
      expect(await within(10, ...puts(someCollection('', { properties })))).toBe('done');
      const document = someDocument('c/a', { length: 1000, properties });
      expect(await within(19, ...puts(someCollection('c'), document))).toBe('full');
      expect(await within(20, ...puts(someCollection('c'), document))).toBe('done');
      expect(await within(0, ...puts(someDocument('b', { length: 9999 })))).toBe('done');
      expect(await within(29, copy('c', 'd'))).toBe('full');
      expect(await one.trees.get(tree, 'd')).toBeUndefined();
      expect(await within(30, copy('c', 'd'))).toBe('done');
      expect(await within(0, { kind: 'remove', path: 'c' }, copy('d', 'c'))).toBe('done');
      expect(await within(0, move('d', 'e'))).toBe('done');
      expect(await within(0, ...puts(someDocument('e/a', { length: 5000, properties })))).toBe(
        'done',
      );
      expect(await within(0, { kind: 'remove', path: 'e' })).toBe('done');
      expect(await within(29, copy('c', 'd'))).toBe('full');
      expect(await within(0, ...puts(someDocument('c/a')))).toBe('done');
      expect(await within(19, copy('', 'd', { deep: false }))).toBe('full');
      expect(await within(20, copy('', 'd', { deep: false }))).toBe('done');
    });

    test('above a reduced quota only changes that add are refused', async () => {
      const { one } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('a'), someDocument('a/b', { length: 10 })));
      const none = { bytes: 0, properties: 0, entries: 0 };
      const done = { kind: 'done' };
      const within = (...edits: Edit[]) => edit(one, tree, edits, {}, none);
      expect(await within(move('a', 'c'))).toMatchObject(done);
      const put = (length: number) => within(...puts(someDocument('c/b', { length })));
      expect(await put(10)).toMatchObject(done);
      expect(await put(11)).toEqual({ kind: 'full' });
      expect(await put(9)).toMatchObject(done);
      expect(await within(...puts(someCollection('d')))).toEqual({ kind: 'full' });
      // The tree keeps its number of entries and has fewer bytes.
      const swap = puts(someDocument('c/d', { length: 8 }));
      expect(await within({ kind: 'remove', path: 'c/b' }, ...swap)).toMatchObject(done);
      expect(await within({ kind: 'lock', lock: someLock('c') })).toMatchObject(done);
      expect(await within(...puts(someCollection('')))).toMatchObject(done);
      expect(await within({ kind: 'remove', path: 'c' })).toMatchObject(done);
      expect((await look(tree)).usage).toEqual({ bytes: 0, entries: 0 });
    });

    test('a quota of bytes does not refuse changes that add only entries, and vice versa', async () => {
      const { one } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someDocument('a', { length: 10 })));
      const noBytes = { ...NO_QUOTA, bytes: 0 };
      const noEntries = { ...NO_QUOTA, entries: 0 };
      expect(await edit(one, tree, puts(someCollection('b')), {}, noBytes)).toMatchObject({
        kind: 'done',
      });
      const longer = puts(someDocument('a', { length: 20 }));
      expect(await edit(one, tree, longer, {}, noEntries)).toMatchObject({ kind: 'done' });
    });
  });
}

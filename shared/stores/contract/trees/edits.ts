import { describe, expect, test } from '@jest/globals';
import { type Edit, type Entry, ImpossibleEdit } from '../../trees/trees.ts';
import {
  ARRIVAL,
  clear,
  copy,
  edit,
  fresh,
  move,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const MANY = 10_000;

/** The effects of each kind of edit. */
export function editsContract(contract: () => Contract): void {
  describe('edits', () => {
    const all = (tree: string) => contract().other.trees.below(tree, '', 2 * MANY + 10);
    const paths = async (tree: string) => (await all(tree)).map((entry) => entry.path);
    const usage = async (tree: string) => (await contract().other.trees.look(tree, [])).usage;
    const files = async (tree: string) =>
      [...(await contract().other.trees.files(tree))].toSorted();

    /** Makes a collection with documents at two levels, and a sibling. */
    async function somewhere(): Promise<string> {
      const tree = fresh();
      await edit(
        contract().one,
        tree,
        puts(
          someCollection('a'),
          someDocument('a/1', { file: 'f1' }),
          someCollection('a/b'),
          someDocument('a/b/22', { file: 'f22' }),
          someDocument('a-', { file: 'neighbour' }),
        ),
      );
      return tree;
    }

    test('put replaces an existing resource; the members of a collection stay', async () => {
      const { one } = contract();
      const tree = await somewhere();
      const [document, collection] = [someDocument('a/1', { file: 'new' }), someCollection('a')];
      expect(await edit(one, tree, puts(document, collection))).toEqual({
        kind: 'done',
        released: ['f1'],
      });
      expect(await one.trees.get(tree, 'a/1')).toEqual(document);
      expect(await one.trees.get(tree, 'a')).toEqual({ ...collection, id: expect.any(String) });
      expect(await paths(tree)).toEqual(['a', 'a-', 'a/1', 'a/b', 'a/b/22']);
      expect(await usage(tree)).toEqual({ bytes: 3 + 3 + 9, entries: 5 });
      const renamed = {
        ...document,
        revision: fresh(),
        properties: { '{x:}y': '<y xmlns="x:"/>' },
      };
      expect(await edit(one, tree, puts(renamed))).toEqual({ kind: 'done', released: [] });
      expect(await one.trees.get(tree, 'a/1')).toEqual(renamed);
    });

    test('RFC 4918 section 9.6.1: remove removes the resource and all resources below it, and no other resource', async () => {
      const { one } = contract();
      const tree = await somewhere();
      const outcome = await edit(one, tree, [{ kind: 'remove', path: 'a' }]);
      expect(outcome).toEqual({ kind: 'done', released: expect.any(Array) });
      expect(outcome.kind === 'done' && outcome.released.toSorted()).toEqual(['f1', 'f22']);
      expect(await paths(tree)).toEqual(['a-']);
      expect(await usage(tree)).toEqual({ bytes: 9, entries: 1 });
      expect(await files(tree)).toEqual(['neighbour']);
    });

    test('RFC 4918 section 9.9: move moves all resources below the path, and changes only their time of modification', async () => {
      const { one } = contract();
      const tree = await somewhere();
      const before = await all(tree);
      expect(await edit(one, tree, [move('a', 'a-b')])).toEqual({
        kind: 'done',
        released: [],
      });
      const expected = before.map((entry) =>
        entry.path === 'a-' ? entry : moved(entry, `a-b${entry.path.slice(1)}`),
      );
      expect((await all(tree)).toSorted(byPath)).toEqual(expected.toSorted(byPath));
      expect(await usage(tree)).toEqual({ bytes: 14, entries: 5 });
      expect(await files(tree)).toEqual(['f1', 'f22', 'neighbour']);
    });

    test('RFC 4918 section 9.8.3: copy shares the files; with depth 0 it copies no members', async () => {
      const { one } = contract();
      const tree = await somewhere();
      await edit(one, tree, [
        copy('a', 'c'),
        copy('a', 'a/shallow', { deep: false }),
        copy('a/1', 'd', { deep: false }),
      ]);
      expect(await paths(tree)).toEqual(
        'a,a-,c,d,a/1,a/b,a/shallow,a/b/22,c/1,c/b,c/b/22'.split(','),
      );
      for (const [from, to] of [
        ['a/1', 'c/1'],
        ['a/b/22', 'c/b/22'],
        ['a', 'a/shallow'],
      ] as const) {
        const original = await one.trees.get(tree, from);
        const id = original?.kind === 'collection' && {
          id: expect.not.stringMatching(original.id ?? ''),
        };
        expect(await one.trees.get(tree, to)).toEqual({
          ...original,
          ...id,
          path: to,
          created: ARRIVAL,
          modified: ARRIVAL,
        });
        expect(original?.modified).not.toBe(ARRIVAL);
      }
      expect(await usage(tree)).toEqual({ bytes: 14 + 5 + 2, entries: 11 });
      expect(await files(tree)).toEqual(['f1', 'f22', 'neighbour']);
      const remove = (path: string) => edit(one, tree, [{ kind: 'remove', path }]);
      expect(await remove('a')).toEqual({ kind: 'done', released: [] });
      expect(await remove('c')).toEqual({ kind: 'done', released: ['f22'] });
      expect(await remove('d')).toEqual({ kind: 'done', released: ['f1'] });
      expect(await files(tree)).toEqual(['neighbour']);
      expect(await usage(tree)).toEqual({ bytes: 9, entries: 1 });
    });

    test('RFC 4918 section 8.8: a moved or copied resource gets its time of arrival as the time of modification', async () => {
      const { one } = contract();
      const tree = await somewhere();
      await edit(one, tree, [
        move('a', 'b', 3_000_000_000_000),
        copy('b', 'c', { at: 2_000_000_000_000 }),
        { kind: 'remove', path: 'a-' },
        move('c/1', 'a-', 1),
      ]);
      const { created } = someDocument('');
      const times = (await all(tree)).map((entry) => [entry.path, entry.created, entry.modified]);
      expect(times).toEqual([
        ['a-', 2_000_000_000_000, 1],
        ['b', created, 3_000_000_000_000],
        ['c', 2_000_000_000_000, 2_000_000_000_000],
        ['b/1', created, 3_000_000_000_000],
        ['b/b', created, 3_000_000_000_000],
        ['b/b/22', created, 3_000_000_000_000],
        ['c/b', 2_000_000_000_000, 2_000_000_000_000],
        ['c/b/22', 2_000_000_000_000, 2_000_000_000_000],
      ]);
    });

    test('RFC 4918 section 9.9.3: a moved resource replaces a resource that the previous edit removes', async () => {
      const { one } = contract();
      const tree = await somewhere();
      await edit(one, tree, puts(someCollection('b'), someDocument('b/old', { file: 'old' })));
      const outcome = await edit(one, tree, [
        { kind: 'remove', path: 'b' },
        move('a', 'b'),
        { kind: 'remove', path: 'b/1' },
        ...puts(someDocument('b/new', { file: 'f1' })),
      ]);
      expect(outcome).toEqual({ kind: 'done', released: ['old'] });
      expect(await paths(tree)).toEqual(['a-', 'b', 'b/b', 'b/new', 'b/b/22']);
      expect(await files(tree)).toEqual(['f1', 'f22', 'neighbour']);
      expect(await usage(tree)).toEqual({ bytes: 14, entries: 5 });
    });

    test('RFC 9110 section 4.1: an edit with too long a path, in bytes of UTF-8, is refused, and nothing is done', async () => {
      const { one } = contract();
      const tree = fresh();
      await edit(
        one,
        tree,
        puts(
          ...['a', 'a/é', 'to', 'a-'].map((path) => someCollection(path)),
          ...[`a/é/${'x'.repeat(20)}`, 'a/zz', `a-/${'y'.repeat(99)}`].map((path) =>
            someDocument(path),
          ),
        ),
      );
      const before = [await all(tree), await one.trees.look(tree, [])];
      const lock: Edit = { kind: 'lock', lock: someLock('a') };
      const outcome = async (...edits: Edit[]) => (await edit(one, tree, edits)).kind;
      const bytes = Buffer.byteLength(`to/ö/é/${'x'.repeat(20)}`);
      for (const [to, most] of [
        ['to/ö', bytes - 1],
        [`to/${'é'.repeat(40)}`, 82],
      ] as const) {
        const moved = move('a', to, ARRIVAL, most);
        expect(await outcome(lock, moved, copy('to', 'b'))).toBe('too long');
        expect(await outcome(lock, copy('a', to, { longest: most }))).toBe('too long');
      }
      expect(await outcome(copy('a', 'to/ö', { deep: false, longest: 4 }))).toBe('too long');
      expect([await all(tree), await one.trees.look(tree, [])]).toEqual(before);

      expect(await outcome(move('x', 'a/x', ARRIVAL, 0))).toBe('done');
      expect(await outcome(copy('a', 'to/é', { deep: false, longest: 5 }))).toBe('done');
      expect(await outcome(copy('a', 'to/ä', { longest: bytes }))).toBe('done');
      expect(await outcome(move('a', 'to/ö', ARRIVAL, bytes))).toBe('done');
      expect(await paths(tree)).toContain(`to/ö/é/${'x'.repeat(20)}`);
    });

    test('three moves in one change exchange two resources', async () => {
      const { one } = contract();
      const tree = await somewhere();
      await edit(one, tree, puts(someCollection('b'), someDocument('b/x')));
      await edit(one, tree, [move('a', 'tmp'), move('b', 'a'), move('tmp', 'b')]);
      expect(await paths(tree)).toEqual(['a', 'a-', 'b', 'a/x', 'b/1', 'b/b', 'b/b/22']);
    });

    test('the file of a document that one change puts and removes is released', async () => {
      const { one } = contract();
      const tree = fresh();
      const edits = [
        ...puts(someDocument('a', { file: 'f' })),
        { kind: 'remove', path: 'a' } as const,
      ];
      expect(await edit(one, tree, edits)).toEqual({ kind: 'done', released: ['f'] });
      expect(await files(tree)).toEqual([]);
      expect(await usage(tree)).toEqual({ bytes: 0, entries: 0 });
    });

    test('removing, moving or copying a missing entry has no effect', async () => {
      const { one } = contract();
      const tree = await somewhere();
      const before = await all(tree);
      const edits: Edit[] = [
        { kind: 'remove', path: 'x' },
        { kind: 'remove', path: 'a/1/x' },
        move('x', 'a'),
        copy('x/y', 'a'),
        { kind: 'unlock', locks: [someLock('x')] },
      ];
      expect(await edit(one, tree, edits)).toEqual({ kind: 'done', released: [] });
      expect(await all(tree)).toEqual(before);
    });

    const IMPOSSIBLE: Readonly<Record<string, Edit>> = {
      'a document over a collection': { kind: 'put', entry: someDocument('a') },
      'a collection over a document': { kind: 'put', entry: someCollection('a/1') },
      'a document as the root': { kind: 'put', entry: someDocument('') },
      'a document into a missing collection': { kind: 'put', entry: someDocument('x/y') },
      'a document into a document': { kind: 'put', entry: someDocument('a/1/x') },
      'to remove the root': { kind: 'remove', path: '' },
      'to move the root': move('', 'x'),
      'to move to the root': move('a', ''),
      'to copy to the root': copy('a', '', { deep: false }),
      'to move into itself': move('a', 'a/b/x'),
      'to copy into itself': copy('a', 'a/x'),
      'to move to itself': move('a', 'a'),
      'to copy to itself': copy('a/1', 'a/1', { deep: false }),
      'to move to its parent': move('a/b', 'a'),
      'to copy to its parent': copy('a/b/22', 'a', { deep: false }),
      'to move over a resource': move('a/b', 'a-'),
      'to copy over a resource': copy('a-', 'a/1'),
      'to move into a missing collection': move('a', 'x/y'),
      'to copy into a document': copy('a', 'a-/x'),
    };

    test.each(Object.keys(IMPOSSIBLE))(
      'an impossible edit rejects, and no edit of the change is done: %s',
      async (what) => {
        const { one } = contract();
        const tree = await somewhere();
        const before = [await all(tree), await one.trees.look(tree, [])];
        const impossible = IMPOSSIBLE[what];
        const edits: Edit[] = [
          ...puts(someDocument('first')),
          { kind: 'lock', lock: someLock('a') },
          { kind: 'remove', path: 'a/b/22' },
          ...(impossible === undefined ? [] : [impossible]),
        ];
        await expect(edit(one, tree, edits)).rejects.toBeInstanceOf(ImpossibleEdit);
        expect([await all(tree), await one.trees.look(tree, [])]).toEqual(before);
      },
    );

    test(`${MANY} entries are put, moved, copied and removed in one change each`, async () => {
      const { one } = contract();
      const tree = fresh();
      const documents = Array.from({ length: MANY }, (_, n) => someDocument(`a/${n}`));
      await edit(one, tree, puts(someCollection('a'), ...documents));
      const { bytes } = await usage(tree);
      await edit(one, tree, [move('a', 'b')]);
      expect((await all(tree)).slice(1).toSorted(byPath)).toEqual(
        documents.map((entry) => moved(entry, entry.path.replace('a', 'b'))).toSorted(byPath),
      );
      await edit(one, tree, [copy('b', 'a')]);
      expect(await usage(tree)).toEqual({ bytes: 2 * bytes, entries: 2 * (MANY + 1) });
      expect(await edit(one, tree, [{ kind: 'remove', path: 'a' }])).toEqual({
        kind: 'done',
        released: [],
      });
      const removed = await edit(one, tree, [{ kind: 'remove', path: 'b' }]);
      expect(await usage(tree)).toEqual({ bytes: 0, entries: 0 });
      expect(await all(tree)).toEqual([]);
      const released = [
        ...(removed.kind === 'done' ? removed.released : []),
        ...(await clear(one)),
      ];
      expect(new Set(released)).toEqual(new Set(documents.map(({ file }) => file)));
      expect(released).toHaveLength(MANY);
      expect(await files(tree)).toEqual([]);
      expect(await usage(tree)).toEqual({ bytes: 0, entries: 0 });
    });
  });
}

const moved = (entry: Entry, path: string): Entry => ({ ...entry, path, modified: ARRIVAL });

const byPath = (a: { readonly path: string }, b: { readonly path: string }) =>
  a.path < b.path ? -1 : 1;

import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { ImpossibleEdit } from '../../trees/trees.ts';
import {
  copy,
  edit,
  fresh,
  move,
  NO_QUOTA,
  puts,
  putWith,
  someCollection,
  someDocument,
  someLock,
} from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const BYTES = Buffer.from('\0content\xff', 'latin1');

/** Short content that a store keeps in the same database as the rows that refer to it. Some stores keep none. */
export function contentContract(contract: () => Contract): void {
  describe('content of documents', () => {
    const longest = () => contract().one.trees.longestContent;
    const keeps = () => longest() >= BYTES.length;
    const content = (tree: string, file: string) => contract().other.trees.content(tree, file);

    /** Puts a document. Its content is in the store if the store keeps content, and otherwise in a file. */
    const put = (path: string, file: string) =>
      keeps() ? [putWith(path, BYTES, { file })] : puts(someDocument(path, { file }));
    /** Returns whether a row refers to the content, or to the file if the store keeps no content. */
    const isNamed = async (tree: string, file: string) => {
      const files = await contract().other.trees.files(tree);
      const kept = await content(tree, file);
      expect(kept).toEqual(keeps() && kept ? BYTES : undefined);
      expect(files.has(file) && kept !== undefined).toBe(false);
      return files.has(file) || kept !== undefined;
    };
    const ofFiles = (...files: readonly string[]) => (keeps() ? [] : files);

    test('the store returns content up to the longest length unchanged, also to a process that opens the store later', async () => {
      const { one, store } = contract();
      const tree = fresh();
      const all = [0, 1, 1023, longest()]
        .filter((length) => length >= 0 && length <= longest())
        .map((length) => systemRandom(length));
      await edit(
        one,
        tree,
        all.map((bytes) => putWith(`${bytes.length}`, bytes, { file: `${bytes.length}` })),
      );
      await using later = await store.open();
      for (const bytes of all) {
        expect(await later.trees.content(tree, `${bytes.length}`)).toEqual(bytes);
        expect(await content(fresh(), `${bytes.length}`)).toBeUndefined();
      }
      expect(await later.trees.files(tree)).toEqual(new Set());
      expect((await later.trees.look(tree, [])).usage.entries).toBe(all.length);
    });

    test('content that is too long, or has another length than its document, is impossible', async () => {
      const { one } = contract();
      const tree = fresh();
      const more = putWith('a', Buffer.alloc(longest() + 1), { file: 'f' });
      const another = putWith('a', BYTES, { file: 'f', length: BYTES.length + 1 });
      const collection = { ...more, entry: someCollection('a'), content: Buffer.alloc(0) };
      for (const impossible of [more, another, collection]) {
        const edits = [...put('b', 'g'), impossible];
        await expect(edit(one, tree, edits)).rejects.toBeInstanceOf(ImpossibleEdit);
      }
      for (const file of ['f', 'g']) expect(await isNamed(tree, file)).toBe(false);
    });

    test('RFC 4918 section 9.8.3: copies share content, which is removed with the last copy; unused files are reported', async () => {
      const { one } = contract();
      const tree = fresh();
      await edit(one, tree, [
        ...puts(someCollection('a'), someDocument('a/long', { file: 'long' })),
        ...put('a/x', 'f'),
        copy('a', 'b'),
        copy('a/x', 'c', { deep: false }),
        move('a', 'd'),
      ]);
      const remove = (path: string) => edit(one, tree, [{ kind: 'remove', path }]);
      const none = { kind: 'done', released: [] };
      expect(await remove('b')).toEqual(none);
      expect(await edit(one, tree, put('c', 'g'))).toEqual(none);
      expect(await isNamed(tree, 'f')).toBe(true);
      const last = await remove('d');
      expect(last.kind === 'done' && last.released.toSorted()).toEqual([...ofFiles('f'), 'long']);
      expect(await isNamed(tree, 'f')).toBe(false);
      expect(await isNamed(tree, 'g')).toBe(true);
      expect(await remove('c')).toEqual({ kind: 'done', released: ofFiles('g') });
      expect(await isNamed(tree, 'g')).toBe(false);
    });

    test('a document that is put again without content keeps its content, which other trees with the same file name keep, too', async () => {
      const { one } = contract();
      const [tree, other] = [fresh(), fresh()];
      const [first] = put('a', 'f');
      await edit(one, tree, put('a', 'f'));
      await edit(one, other, put('a', 'f'));
      if (first?.kind !== 'put') throw new Error('no document is put');
      const renamed = { ...first.entry, revision: fresh(), properties: { '{x:}y': '<y/>' } };
      expect(await edit(one, tree, puts(renamed))).toEqual({ kind: 'done', released: [] });
      expect(await isNamed(tree, 'f')).toBe(true);
      await edit(one, tree, [{ kind: 'remove', path: 'a' }]);
      expect(await isNamed(tree, 'f')).toBe(false);
      expect(await isNamed(other, 'f')).toBe(true);
    });

    test('the store keeps no content of a change that is not done, or of a document that is put and removed in one change', async () => {
      const { one } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('a')));
      const full = { ...NO_QUOTA, entries: 1 };
      const outcomes = [
        await edit(one, tree, put('b', 'f'), { a: 'another' }),
        await edit(one, tree, put('b', 'f'), {}, full),
        await edit(one, tree, [...put('b', 'f'), move('a', 'long', 0, 3)]),
        await edit(one, tree, [...put('b', 'f'), { kind: 'remove', path: 'b' }]),
      ];
      expect(outcomes.map(({ kind }) => kind)).toEqual(['conflict', 'full', 'too long', 'done']);
      await expect(edit(one, tree, [...put('b', 'f'), move('a', 'b')])).rejects.toThrow();
      expect(await isNamed(tree, 'f')).toBe(false);
      await edit(one, tree, [{ kind: 'lock', lock: someLock('a') }]);
      expect(await isNamed(tree, 'f')).toBe(false);
    });

    test('the store keeps exactly the content to which rows refer when puts, copies and removals race', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const files = Array.from({ length: 60 }, (_, n) => `f${n}`);
      const works = files.flatMap((file, n) => [
        () => edit(n % 2 ? one : other, tree, put(`a${n % 5}`, file)),
        () => edit(n % 3 ? one : other, tree, [{ kind: 'remove', path: `a${(n * 7) % 5}` }]),
        () =>
          edit(n % 2 ? other : one, tree, [
            { kind: 'remove', path: `b${n % 4}` },
            copy(`a${(n * 3) % 5}`, `b${n % 4}`, { deep: false }),
          ]),
      ]);
      await Promise.all(works.map((work) => work()));
      const below = await other.trees.below(tree, '', 99);
      const named = new Set(below.map((entry) => entry.kind === 'document' && entry.file));
      expect(named.size).toBeGreaterThan(0);
      for (const file of files) expect(await isNamed(tree, file)).toBe(named.has(file));
    });
  });
}

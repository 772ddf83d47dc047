import { describe, expect, test } from '@jest/globals';
import { type Edit, ImpossibleEdit, type Listing } from '../../trees/trees.ts';
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

const LOCK = someLock('a');
const BEGINNING: readonly Edit[] = [
  ...puts(someCollection('a'), someDocument('a/x', { revision: 'v1' })),
  { kind: 'lock', lock: LOCK },
];

/** The edits for each request of a client. */
const EDITS: Readonly<Record<string, readonly Edit[]>> = {
  'PUT of a new document': puts(someDocument('a/y')),
  'PUT and PATCH of an existing document': puts(someDocument('a/x')),
  MKCOL: puts(someCollection('b')),
  'PROPPATCH of a document': puts(someDocument('a/x', { properties: { '{x:}y': '<y/>' } })),
  'PROPPATCH of the root': puts(someCollection('', { properties: { '{x:}y': '<y/>' } })),
  'DELETE of a document': [{ kind: 'remove', path: 'a/x' }],
  'DELETE of a collection': [{ kind: 'remove', path: 'a' }],
  'COPY of a document': [copy('a/x', 'a/y')],
  'COPY of a collection': [copy('a', 'b')],
  'MOVE of a document': [move('a/x', 'y')],
  'MOVE of a collection': [move('a', 'b')],
  LOCK: [{ kind: 'lock', lock: someLock('a/x') }],
  'LOCK once more': [{ kind: 'lock', lock: { ...LOCK, expires: FAR } }],
  UNLOCK: [{ kind: 'unlock', locks: [LOCK] }],
};

/** Caches store results from a tree under the tree's version, so no cache has to be notified of a change. */
export function versionsContract(contract: () => Contract): void {
  describe('versions of a tree', () => {
    async function prepared(): Promise<string> {
      const tree = fresh();
      await edit(contract().one, tree, BEGINNING);
      return tree;
    }

    test.each(Object.entries(EDITS))('%s gives the tree another version', async (_, edits) => {
      const { one, other } = contract();
      const [tree, neighbour] = [await prepared(), await prepared()];
      const before = await other.trees.version(tree);
      const beside = await other.trees.version(neighbour);
      expect(before).toEqual(expect.any(String));
      expect(beside).not.toBe(before);
      expect(await edit(one, tree, edits)).toMatchObject({ kind: 'done' });
      const after = await other.trees.version(tree);
      expect(after).toEqual(expect.any(String));
      expect(after).not.toBe(before);
      expect(await one.trees.version(tree)).toBe(after);
      expect((await other.trees.list(tree, '', '', 9))?.version).toBe(after);
      expect(await other.trees.version(neighbour)).toBe(beside);
    });

    test('an edit that is not done makes no new version', async () => {
      const { one, other } = contract();
      const tree = await prepared();
      const before = await other.trees.version(tree);
      const outcomes = [
        await edit(one, tree, puts(someDocument('a/x')), { 'a/x': 'v0' }),
        await edit(one, tree, puts(someDocument('a/y')), {}, { ...NO_QUOTA, entries: 0 }),
        await edit(one, tree, [move('a', 'b'.repeat(20), 0, 10)]),
      ];
      expect(outcomes.map(({ kind }) => kind)).toEqual(['conflict', 'full', 'too long']);
      await expect(edit(one, tree, puts(someDocument('c/d')))).rejects.toThrow(ImpossibleEdit);
      expect(await other.trees.version(tree)).toBe(before);
    });

    test('a version that was lost with its store is not used again', async () => {
      const { one, other, store } = contract();
      const tree = await prepared();
      const versions = [await other.trees.version(tree)];
      for (let n = 0; n < 3; n += 1) {
        await edit(one, tree, puts(someDocument(`a/${n}`)));
        versions.push(await other.trees.version(tree));
      }
      await store.forget();
      expect(await other.trees.version(tree)).toBeUndefined();
      for (let n = 0; n < 4; n += 1) {
        await edit(one, tree, puts(someDocument(`${n}`)));
        versions.push(await other.trees.version(tree));
      }
      expect(new Set(versions).size).toBe(8);
      expect(versions).not.toContain(undefined);
    });

    test('with ten writers and ten readers at once, a version has only one content, and is never older than an acknowledged change', async () => {
      const { one, other } = contract();
      const tree = await prepared();
      const seen = new Map<string, string>();
      const ten = Array.from({ length: 10 }, (_, n) => n);
      const writing = new Set(ten);
      let acknowledged = 0;

      async function write(writer: number): Promise<void> {
        for (let n = 0; n < 20; n += 1) {
          const { kind } = await edit(
            writer % 2 === 0 ? one : other,
            tree,
            puts(someDocument(`a/${writer}-${n}`)),
          );
          expect(kind).toBe('done');
          acknowledged += 1;
        }
        writing.delete(writer);
      }

      async function read(reader: number): Promise<void> {
        const { trees } = reader % 2 === 0 ? one : other;
        const remembered = new Map<string, Listing>();
        while (writing.size > 0) {
          const least = acknowledged;
          const version = (await trees.version(tree)) ?? '';
          const listing = remembered.get(version) ?? (await trees.list(tree, 'a', '', 999));
          if (listing === undefined) throw new Error('there is no collection');
          expect(listing.members.length).toBeGreaterThanOrEqual(1 + least);
          const of = listing.version ?? '';
          remembered.set(of, listing);
          const content = JSON.stringify(listing.members);
          expect(seen.get(of) ?? content).toBe(content);
          seen.set(of, content);
          await new Promise(setImmediate);
        }
      }

      await Promise.all([...ten.map(write), ...ten.map(read)]);
      expect((await other.trees.list(tree, 'a', '', 999))?.members).toHaveLength(201);
    });
  });
}

import { describe, expect, test } from '@jest/globals';
import type { Collection, Entry } from '../../trees/trees.ts';
import {
  ARRIVAL,
  edit,
  fresh,
  membersIn,
  move,
  NO_QUOTA,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Names with characters that are special in patterns, ranges or paths. */
const ODD = [
  'a%',
  'a_',
  'a*',
  'a[b]',
  'a\\',
  "a'",
  'a"',
  'a b',
  'a{b}',
  'a:b',
  'a!',
  'a-',
  'a0',
  'é',
  '😀',
];

const inOrder = (names: readonly string[]) =>
  names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** Reading. */
export function treesContract(contract: () => Contract): void {
  describe('trees', () => {
    test('an entry is returned with all its members, only in its own tree', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const document = someDocument('Grüße 😀.txt', {
        length: 2 ** 40,
        properties: { '{urn:x}y': '<y xmlns="urn:x">ä &amp; {1}</y>', '{}z': '<z/>' },
      });
      const collection = someCollection('c', { properties: { '{DAV:}displayname': '<n>{}</n>' } });
      await edit(one, tree, puts(document, collection));
      expect(await other.trees.get(tree, document.path)).toEqual(document);
      expect(await other.trees.get(tree, 'c')).toEqual({ ...collection, id: expect.any(String) });
      expect(await other.trees.get(tree, 'C')).toBeUndefined();
      expect(await other.trees.get(fresh(), document.path)).toBeUndefined();
    });

    test('a path with any number of segments finds its resource, also after a move', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const paths = Array.from({ length: 80 }, (_, n) => ['a', ...Array(n).fill('b')].join('/'));
      await edit(one, tree, puts(...paths.map((path) => someCollection(path))));
      const documents = paths.map((path) => someDocument(`${path}/d`));
      await edit(one, tree, puts(...documents));
      for (const document of documents) {
        expect(await other.trees.get(tree, document.path)).toEqual(document);
      }
      const deepest = documents.at(-1)?.path ?? '';
      for (const absent of [`${deepest}/d`, `${deepest}e`, deepest.replace('a/b', 'a/d')]) {
        expect(await other.trees.get(tree, absent)).toBeUndefined();
      }
      const at = 1_900_000_000_000;
      await edit(one, tree, [move('a', 'c', at)]);
      for (const document of documents) {
        const moved = { ...document, path: document.path.replace('a', 'c'), modified: at };
        expect(await other.trees.get(tree, moved.path)).toEqual(moved);
        expect(await other.trees.get(tree, document.path)).toBeUndefined();
      }
      const view = await other.trees.look(
        tree,
        documents.map((of) => of.path.replace('a', 'c')),
      );
      expect([...view.entries.values()].map((entry) => entry?.modified)).toEqual(
        documents.map(() => at),
      );
    });

    test('an unknown tree is empty', async () => {
      const { one } = contract();
      const tree = fresh();
      expect(await one.trees.get(tree, '')).toBeUndefined();
      expect(await one.trees.members(tree, { path: '' }, '', 10)).toEqual([]);
      expect(await one.trees.version(tree)).toBeUndefined();
      expect(await one.trees.list(tree, '', '', 10)).toEqual({ version: undefined, members: [] });
      expect(await one.trees.below(tree, '', 10)).toEqual([]);
      expect(await one.trees.files(tree)).toEqual(new Set());
      expect(await one.trees.look(tree, ['', 'a'])).toEqual({
        entries: new Map([
          ['', undefined],
          ['a', undefined],
        ]),
        locks: [],
        locksVersion: expect.any(String),
        usage: { bytes: 0, entries: 0 },
      });
    });

    test('moving characters from the name of the tree to the path does not find the entry', async () => {
      const { one } = contract();
      const name = fresh();
      for (const tree of [`${name}:rows`, `${name}/a`, `${name}}`, `{${name}`, `${name}%3Arows`]) {
        await edit(one, tree, puts(someCollection('a'), someDocument('a/b', { file: tree })));
      }
      for (const tree of [name, `${name}:`, `${name}/`, `${name}%3Arows:`]) {
        expect(await one.trees.below(tree, '', 10)).toEqual([]);
        expect(await one.trees.files(tree)).toEqual(new Set());
      }
      expect(await one.trees.files(`${name}%3Arows`)).toEqual(new Set([`${name}%3Arows`]));
    });

    test('RFC 4918 section 5.1: the root is found once it was put, and is not a member of itself', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const root = someCollection('', { properties: { '{x:}y': '<y xmlns="x:"/>' } });
      await edit(one, tree, puts(root, someDocument('a')));
      expect(await other.trees.get(tree, '')).toMatchObject(root);
      expect(await membersIn(other, tree)).toEqual([expect.objectContaining({ path: 'a' })]);
      expect(await other.trees.below(tree, '', 10)).toHaveLength(1);
      expect((await other.trees.look(tree, [])).usage.entries).toBe(1);
    });

    test('members are those directly in the collection, by the bytes of their names, a page at a time', async () => {
      const { one, other } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('a'), ...ODD.map((name) => someCollection(name))));
      await edit(one, tree, puts(...ODD.map((name) => someDocument(`a/${name}`))));
      await edit(one, tree, puts(...ODD.map((name) => someDocument(`${name}/within`))));
      const names = async (path: string, after: string, limit: number) =>
        (await other.trees.members(tree, { path }, after, limit))?.map((entry) => entry.path);
      const within = inOrder(ODD).map((name) => `a/${name}`);
      expect(await names('a', '', 100)).toEqual(within);
      expect(await names('', '', 100)).toEqual(inOrder([...ODD, 'a']));
      expect(await names('a', '', 3)).toEqual(within.slice(0, 3));
      expect(await names('a', inOrder(ODD)[2] ?? '', 3)).toEqual(within.slice(3, 6));
      expect(await names('a', 'a-', 0)).toEqual([]);
      expect(await names('a', '\u{10ffff}', 10)).toEqual([]);
      for (const name of ODD) expect(await names(name, '', 9)).toEqual([`${name}/within`]);
    });

    test('a list has the same members in the same order, without their dead properties', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const properties = { '{x:}y': '<y xmlns="x:">\n{1}</y>', '{}z': 'z'.repeat(100_000) };
      const found = ODD.flatMap((name) => [
        someCollection(name, { properties }),
        someDocument(`${name}.txt`, { properties, type: 'text/plain; a="{\t}"' }),
      ]);
      await edit(one, tree, puts(...found, someDocument(`${ODD[0]}/within`, { properties })));
      const members = (await membersIn(other, tree)).map(({ properties: dead, ...listed }) => {
        expect(dead).toEqual(properties);
        return listed;
      });
      expect(members).toHaveLength(found.length);
      const list = async (...page: [after: string, limit: number]) =>
        (await other.trees.list(tree, '', ...page))?.members;
      expect(await list('', 99)).toEqual(members);
      const after = members[3]?.path ?? '';
      expect(await list(after, 5)).toEqual(members.slice(4, 9));
    });

    test('an empty collection has an empty list of members, and other paths have no list', async () => {
      const { one, other } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('empty'), someDocument('document')));
      const found = async (path: string) => [
        await other.trees.members(tree, { path }, '', 9),
        (await other.trees.list(tree, path, '', 9))?.members,
      ];
      expect(await found('empty')).toEqual([[], []]);
      for (const path of ['nothing', 'nothing/within', 'document', 'document/within']) {
        expect(await found(path)).toEqual([undefined, undefined]);
      }
    });

    test('after a collection is moved or replaced, a further page has members of this collection or is refused, and never has members of another one', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const of = (collection: string) =>
        ['1', '2', '3', '4'].map((name) => `${collection}/${name}`);
      for (const path of ['a', 'a/within', 'b', 'b/within', 'c']) {
        await edit(
          one,
          tree,
          puts(someCollection(path), ...of(path).map((at) => someDocument(at))),
        );
      }
      const paths = ['a', 'a/within'];
      const seen = await Promise.all(paths.map((path) => one.trees.get(tree, path)));
      const pages = () =>
        Promise.all(seen.map((each) => other.trees.members(tree, each as Collection, '2', 2)));
      const [rest, ofWithin] = await pages();
      expect([rest, ofWithin].map((page) => page?.map(({ path }) => path))).toEqual(
        paths.map((path) => of(path).slice(2)),
      );
      const moved = (page: readonly Entry[] = []) =>
        page.map((entry) => Object.assign(entry, { modified: ARRIVAL }));
      const expected = [moved(rest), moved(ofWithin)];

      for (const edits of [
        [move('a', 'd')],
        [move('b', 'a')],
        [move('d', 'c/d'), move('c', 'd')],
      ]) {
        await edit(one, tree, edits);
        for (const [n, page] of (await pages()).entries()) {
          expect([expected[n], undefined]).toContainEqual(page);
        }
      }
      await edit(one, tree, [{ kind: 'remove', path: 'd' }]);
      expect(await pages()).toEqual([undefined, undefined]);
      const later = { created: ARRIVAL + 1 };
      await edit(one, tree, puts(...['d', 'd/d', 'e'].map((path) => someCollection(path, later))));
      expect(await pages()).toEqual([undefined, undefined]);
    });

    test('`below` uses the path literally, and returns each collection before its members', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const collections = ['a', 'a/b', 'a/b/c', 'a/b-', ...ODD].map((path) => someCollection(path));
      await edit(one, tree, puts(...collections));
      const paths = ['a/z', 'a/b/c/d', 'a/b/x', 'a/b-/x', 'a/b!', 'a-/b', 'a0/b', 'a!/b', 'a%/b'];
      await edit(one, tree, puts(...paths.map((path) => someDocument(path))));
      const below = async (path: string, limit = 100) =>
        (await other.trees.below(tree, path, limit)).map((entry) => entry.path);
      const all = ['a/b', 'a/b!', 'a/b-', 'a/z', 'a/b/c', 'a/b/x', 'a/b-/x', 'a/b/c/d'];
      // Sorted by the path of the collection: a, a/b, a/b-, a/b/c.
      expect(await below('a')).toEqual(all);
      expect(await below('a', 3)).toEqual(all.slice(0, 3));
      expect(await below('a', 6)).toEqual(all.slice(0, 6));
      expect(await below('a/b')).toEqual(['a/b/c', 'a/b/x', 'a/b/c/d']);
      expect(await below('a/b/c/d')).toEqual([]);
      for (const name of ['a-', 'a0', 'a!', 'a%']) expect(await below(name)).toEqual([`${name}/b`]);
      expect(await below('a_')).toEqual([]);
      const everything = await below('');
      expect(everything).toHaveLength(collections.length + paths.length);
      for (const [n, path] of everything.entries()) {
        const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
        expect(everything.indexOf(parent)).toBeLessThan(n);
        expect(everything.includes(parent)).toBe(parent !== '');
      }
      expect(await below('', 2)).toEqual(everything.slice(0, 2));
    });

    test('many paths of any depth can be read and compared in one call, with the same results as one by one', async () => {
      const { one, other } = contract();
      const tree = fresh();
      const above = Array.from({ length: 40 }, (_, n) => ['a', ...Array(n).fill('b')].join('/'));
      const odd = ODD.map((name) => `a/b/${name}`);
      await edit(
        one,
        tree,
        puts(
          ...above.map((path) => someCollection(path)),
          ...[...odd, 'd'].map((path) => someDocument(path)),
        ),
      );
      await edit(one, tree, [move('a/b/b', 'a/moved')]);
      const missing = ['', 'x', 'x/y/z', 'd/d', 'a/b/b/b', 'a/b/a', 'a/00000', '0'];
      const moved = above.map((path) => path.replace('a/b/b', 'a/moved'));
      const paths = [...new Set([...moved.toReversed(), ...odd, ...missing, 'd', 'd/d'])];
      const { entries, locksVersion } = await other.trees.look(tree, paths);
      const alone = new Map<string, Entry | undefined>();
      for (const path of paths) alone.set(path, await other.trees.get(tree, path));
      expect(entries).toEqual(alone);
      expect([...alone.values()].filter((entry) => entry === undefined)).toHaveLength(8);

      const seen = new Map(paths.map((path) => [path, alone.get(path)?.revision]));
      const commit = (also: string) =>
        one.trees.commit(tree, {
          seen: new Map([...seen, [also, seen.get(also) === undefined ? 'other' : undefined]]),
          locksVersion,
          edits: puts(someDocument('e')),
          quota: NO_QUOTA,
        });
      for (const also of ['d', 'd/d', moved.at(-1) ?? '', 'a/b/é']) {
        expect(await commit(also)).toEqual({ kind: 'conflict' });
      }
      const change = { seen, locksVersion, edits: puts(someDocument('e')), quota: NO_QUOTA };
      expect(await one.trees.commit(tree, change)).toMatchObject({ kind: 'done' });
    });

    test('one read shows one moment: a resource that is moved meanwhile is at exactly one path', async () => {
      const { one, other } = contract();
      const tree = fresh();
      await edit(one, tree, puts(someCollection('a'), someDocument('a/x')));
      const moving = new AbortController();
      const moves = (async () => {
        for (let n = 0; n < 100; n++) {
          const [from, to] = n % 2 === 0 ? (['a', 'b'] as const) : (['b', 'a'] as const);
          await edit(one, tree, [
            move(from, to),
            { kind: 'lock', lock: someLock(to, { token: 'urn:uuid:one' }) },
          ]);
          await new Promise(setImmediate);
        }
        moving.abort();
      })();
      while (!moving.signal.aborted) {
        const { entries, locks } = await other.trees.look(tree, ['a', 'b', 'a/x', 'b/x']);
        const there = [...entries].filter(([, entry]) => entry !== undefined);
        const paths = there.map(([path]) => path).join();
        expect(['a,a/x', 'b,b/x']).toContain(paths);
        if (locks[0] !== undefined) expect(paths).toMatch(new RegExp(`^${locks[0].root},`));
        const listed = await other.trees.below(tree, '', 9);
        expect(listed.map((entry) => entry.path).join()).toMatch(/^(a,a\/x|b,b\/x)$/);
        await new Promise(setImmediate);
      }
      await moves;
    });
  });
}

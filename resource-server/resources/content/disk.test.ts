import { readFileSync } from 'node:fs';
import { mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { copy, edit, someLock } from '#shared/stores/contract/samples.ts';
import { copyStore } from '#shared/stores/backup/copy-store.ts';
import { backupSqlite } from '#shared/stores/sqlite/backup/backup.ts';
import { keptContent } from '#shared/stores/sqlite/trees/kept-content.fixture.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import type { Collection, Document, Edit, Trees } from '#shared/stores/trees/trees.ts';
import { wholeOf } from '../../answers/pieces.ts';
import { type Disk, openDisk } from './disk.ts';
import type { ResourceStore } from './resource-store.ts';
import { newDocument } from './upload.ts';

const TREE = '/documents';
const clock = new ManualClock();
let data: string;
let folder: string;
let stores: Stores;
let disk: Disk;
let store: ResourceStore;

const open = (trees: Trees = stores.trees) =>
  openDisk({
    folder,
    trees,
    limits: stores.limits,
    maxBytes: 20_000,
    memory: 10_000,
    quota: { bytes: 40_000, properties: 100, entries: 20 },
    clock,
    random: systemRandom,
    log: silentLog,
  });

beforeEach(async () => {
  data = await storeFolder();
  folder = join(data, 'content');
  stores = await openSqlite({ folder: data, clock, random: systemRandom });
  disk = open();
  store = await disk.tree(TREE, 'alice');
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
});

async function* body(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const putEdit = (entry: Document | Collection): Edit => ({ kind: 'put', entry });

/** Puts a document as the methods do. */
function write(path: string, text: string, at = store): Promise<Document> {
  return at.receive(body(text), (received) => {
    const document = newDocument({ path, type: 'a/b' }, received, {
      treeClock: clock,
      random: systemRandom,
    });
    return at.change([path], () => ({ edits: [putEdit(document)], value: document }));
  });
}

const files = (tree = TREE) => readdir(join(folder, folderOf(tree))).catch(noneIfMissing);
/** The names of all content, in the store and in files. */
const contents = async () => [...(await files()), ...keptContent(data, TREE).keys()].toSorted();
function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
/** Content that is long enough for a file. */
const LONG = 'x'.repeat(20_000);

describe('a backup', () => {
  test('a backup has the content of its moment, although all documents change before it is copied', async () => {
    const names = ['a', 'b'];
    for (const name of names) await write(name, `${LONG.slice(1)}1`);
    const backup = join(data, 'backup');
    let turn = 1;
    const parts = {
      async copyState(from: string, to: string) {
        const now = clock.now() / 1000;
        await utimes(join(folder, '.backup'), now, now);
        backupSqlite(from, to);
        turn += 1;
        for (const name of names) await write(name, `${LONG.slice(1)}${turn}`);
        expect(await disk.sweep(-1)).toBe(0);
      },
      writeSums: async () => {},
    };
    expect(await copyStore(data, backup, parts)).toBe(2);
    const copied = join(backup, 'content', folderOf(TREE));
    const texts = (await readdir(copied)).map((name) => readFileSync(join(copied, name), 'utf8'));
    expect(texts.map((text) => text.slice(-2))).toEqual(['x1', 'x1']);
    expect(await files()).toHaveLength(4);
    expect(await disk.sweep(-1)).toBe(2);
    await write('a', LONG);
    expect(await files()).toHaveLength(2);
  });

  test('a backup that was interrupted keeps unused content for a day', async () => {
    await write('a', LONG);
    const mark = join(folder, '.backup');
    await writeFile(mark, '1');
    const at = clock.now() / 1000;
    await utimes(mark, at - 86_399, at - 86_399);
    await write('a', LONG);
    expect(await files()).toHaveLength(2);
    for (const made of [at - 86_400, at + 86_400]) {
      await utimes(mark, made, made);
      await write('a', LONG);
      expect(await files()).toHaveLength(2);
    }
  });
});

describe('the root', () => {
  test('the root exists before the first write, and reading creates no folder', async () => {
    const root = { kind: 'collection', path: '', created: 0, modified: 0, properties: {} };
    expect(await store.get('')).toMatchObject(root);
    expect((await store.look(['', 'a'])).entries.get('')).toMatchObject(root);
    expect(await store.members({ path: '' }, '', 10)).toEqual([]);
    expect(await store.get('a')).toBeUndefined();
    expect(await readdir(data)).not.toContain('content');
  });

  test('the root can be changed, and a concurrent change is judged again', async () => {
    const put = (title: string) => {
      let judged = 0;
      const changing = store.change([''], (view) => {
        judged += 1;
        const root = view.entries.get('');
        if (root?.kind !== 'collection') throw new Error('no root');
        const properties = { ...root.properties, [title]: '<x/>' };
        return { edits: [putEdit({ ...root, revision: title, properties })], value: undefined };
      });
      return changing.then(() => judged);
    };
    const judged = await Promise.all(['one', 'two', 'three'].map(put));
    expect(Math.max(...judged)).toBeGreaterThan(1);
    const { properties } = (await store.get('')) ?? {};
    expect(Object.keys(properties ?? {}).toSorted()).toEqual(['one', 'three', 'two']);
  });
});

describe('a change', () => {
  test('a change is judged again after changes by other clients', async () => {
    await write('a', 'one');
    const seen: (string | undefined)[] = [];
    const slow: Trees = {
      ...stores.trees,
      async commit(tree, change) {
        if (seen.length === 1) await write('a', 'two');
        return stores.trees.commit(tree, change);
      },
    };
    const late = await open(slow).tree(TREE, 'alice');
    await late.change(['a'], (view) => {
      const entry = view.entries.get('a');
      seen.push(entry?.revision);
      return { edits: [{ kind: 'remove', path: 'a' }], value: undefined };
    });
    expect(new Set(seen).size).toBe(2);
    expect(await store.get('a')).toBeUndefined();
    expect(await contents()).toEqual([]);
  });

  test.each([
    { others: 'changed nothing', write: undefined, judged: [undefined], looks: 0 },
    { others: 'wrote to it', write: 'a', judged: [undefined, 'document'], looks: 1 },
    { others: 'wrote beside it', write: 'b', judged: [undefined], looks: 0 },
  ])(
    'a change is decided by the earlier view unless the state has changed: other clients $others',
    async ({ write: other, judged, looks }) => {
      let looked = 0;
      const look: Trees['look'] = (...asked) => {
        looked += 1;
        return stores.trees.look(...asked);
      };
      const tree = await open({ ...stores.trees, look }).tree(TREE, 'alice');
      const seen = await tree.look(['', 'a']);
      looked = 0;
      if (other !== undefined) await write(other, 'one');
      const kinds: (string | undefined)[] = [];
      await tree.change(
        ['', 'a'],
        (view) => {
          kinds.push(view.entries.get('a')?.kind);
          expect(view.entries.get('')).toBeDefined();
          return { edits: [{ kind: 'remove', path: 'a' }], value: undefined };
        },
        seen,
      );
      expect(kinds).toEqual(judged);
      expect(looked).toBe(looks);
      expect(await store.get('a')).toBeUndefined();
    },
  );

  test('RFC 4918 section 9.10.2: a change is not refused by an earlier view, since a lock may have been refreshed', async () => {
    const seen = await store.look(['a']);
    const views: unknown[] = [];
    const changing = (refuses: (view: unknown) => boolean) =>
      store.change(
        ['a'],
        (view) => {
          views.push(view);
          if (refuses(view)) throw new Error('refused');
          return { edits: [{ kind: 'remove', path: 'a' }], value: 'done' };
        },
        seen,
      );
    expect(await changing((view) => view === seen)).toBe('done');
    expect(views).toHaveLength(2);
    await expect(changing(() => true)).rejects.toThrow('refused');
    expect(views).toHaveLength(4);
  });

  test('a change without edits commits nothing', async () => {
    const commit = () => Promise.reject(new Error('committed'));
    const idle = await open({ ...stores.trees, commit }).tree(TREE, 'alice');
    expect(await idle.change(['a'], () => ({ edits: [], value: 'seen' }))).toBe('seen');
  });

  test('a change is 503 with Retry-After if other changes are always faster', async () => {
    let tries = 0;
    const commit = async () => {
      tries += 1;
      return { kind: 'conflict' as const };
    };
    const busy = await open({ ...stores.trees, commit }).tree(TREE, 'alice');
    for (const text of ['x', LONG]) {
      await expect(write('a', text, busy)).rejects.toMatchObject({
        status: 503,
        fields: { 'Retry-After': '1' },
      });
      expect(await contents()).toEqual([]);
    }
    expect(tries).toBe(200);
  });

  test('RFC 4918 section 6.1: constant locking of other documents delays no change', async () => {
    let [tries, locked] = [0, 0];
    const commit: Trees['commit'] = async (tree, change) => {
      tries += 1;
      locked += 1;
      await edit(stores, tree, [{ kind: 'lock', lock: someLock(`other/${locked}`) }]);
      return stores.trees.commit(tree, change);
    };
    const busy = await open({ ...stores.trees, commit }).tree(TREE, 'alice');
    await write('a', 'x', busy);
    await write('a', 'y', busy);
    expect(tries).toBe(2);
  });

  test('RFC 4331 section 6: a change over the quota of bytes or entries is 507 and leaves nothing', async () => {
    await write('a', LONG);
    await write('b', LONG);
    const before = await contents();
    for (const text of ['x', LONG]) {
      await expect(write('c', text)).rejects.toMatchObject({ status: 507 });
    }
    expect(await contents()).toEqual(before);
    await write('a', '');
    for (let count = 2; count < 20; count += 1) await write(`n${count}`, '');
    await expect(write('one too many', '')).rejects.toMatchObject({ status: 507 });
    await write('n2', 'replaced');
  });

  test('RFC 4331 section 6: a change over the quota of dead properties is 507, too', async () => {
    const put = (path: string, bytes: number) => {
      const document = newDocument(
        { path, type: 'a/b' },
        { file: path, length: 0 },
        { treeClock: clock, random: systemRandom },
      );
      const properties = { '{}a': 'x'.repeat(bytes - 3) };
      const edits = [putEdit({ ...document, properties })];
      return store.change([path], () => ({ edits, value: undefined }));
    };
    await put('a', 60);
    await expect(put('b', 41)).rejects.toMatchObject({ status: 507 });
    await put('b', 40);
  });

  test.each(['x', LONG])(
    'a change removes content that no row names any more, and keeps content that a copy shares',
    async (text) => {
      const { file } = await write('a', text);
      await store.change(['a', 'b'], () => ({ edits: [copy('a', 'b')], value: undefined }));
      const remove = (path: string) =>
        store.change([path], () => ({ edits: [{ kind: 'remove', path }], value: undefined }));
      await remove('a');
      expect(await contents()).toEqual([file]);
      await remove('b');
      expect(await contents()).toEqual([]);
    },
  );

  test('a change with an unknown outcome keeps its file', async () => {
    const commit = () => Promise.reject(new StoreUnavailable('no answer'));
    const lost = await open({ ...stores.trees, commit }).tree(TREE, 'alice');
    await expect(write('a', LONG, lost)).rejects.toThrow(StoreUnavailable);
    expect(await files()).toHaveLength(1);
  });

  test.each(['x', LONG])('a change that is refused leaves no content', async (text) => {
    const refusal = new HttpError(412, 'no');
    const refused = store.receive(body(text), () =>
      store.change(['a'], () => {
        throw refusal;
      }),
    );
    await expect(refused).rejects.toBe(refusal);
    expect(await contents()).toEqual([]);
  });

  test('changes work on documents with short content in files, written under a lower limit', async () => {
    const former = await open({ ...stores.trees, longestContent: -1 }).tree(TREE, 'alice');
    const [a, b] = [await write('a', 'old a', former), await write('b', 'old b', former)];
    await store.change(['a', 'c'], () => ({ edits: [copy('a', 'c')], value: undefined }));
    expect(await files()).toEqual([a.file, b.file].toSorted());
    const text = async (path: string) => {
      const entry = await store.get(path);
      const content = entry?.kind === 'document' ? await store.content(entry) : undefined;
      return content && String(await wholeOf(content));
    };
    expect(await Promise.all(['a', 'b', 'c'].map(text))).toEqual(['old a', 'old b', 'old a']);
    await write('a', 'new a');
    await write('b', 'new b');
    expect(await files()).toEqual([a.file]);
    expect(await Promise.all(['a', 'b', 'c'].map(text))).toEqual(['new a', 'new b', 'old a']);
    await write('c', 'new c');
    expect(await files()).toEqual([]);
    expect(await contents()).toHaveLength(3);
  });
});

describe('trees', () => {
  test('trees are isolated from one another', async () => {
    const other = await disk.tree('/dav?person=../b', 'alice');
    const [short, document] = [await write('b', 'short'), await write('a', LONG)];
    expect(await other.get('a')).toBeUndefined();
    for (const one of [short, document]) expect(await other.content(one)).toBeUndefined();
    await write('a', `their ${LONG.slice(6)}`, other);
    expect((await readdir(folder)).toSorted()).toEqual([
      '%2Fdav%3Fperson%3D..%2Fb',
      '%2Fdocuments',
    ]);
    expect(await store.content(document)).toEqual(Buffer.from(LONG));
    expect(await store.content(short)).toEqual(Buffer.from('short'));
  });

  test('trees have different folders if their names differ only in case', async () => {
    for (const name of ['App', 'app', 'aPP']) {
      await write('a', LONG, await disk.tree(`/dav?application=${name}`, 'alice'));
    }
    expect((await readdir(folder)).toSorted()).toEqual([
      '%2Fdav%3Fapplication%3D%41pp',
      '%2Fdav%3Fapplication%3Da%50%50',
      '%2Fdav%3Fapplication%3Dapp',
    ]);
  });

  test('RFC 9110 section 15.5.15: a tree whose name is too long for a folder is 414', async () => {
    for (const name of ['n'.repeat(253), 'N'.repeat(85), 'ü'.repeat(43)]) {
      await expect(disk.tree(`/${name}`, 'alice')).rejects.toMatchObject({ status: 414 });
    }
    for (const name of ['n'.repeat(252), 'N'.repeat(84)]) {
      await write('a', LONG, await disk.tree(`/${name}`, 'alice'));
    }
  });

  test("a symbolic link in place of a tree's folder is never followed to read, write or remove", async () => {
    const document = await write('a', LONG);
    const outside = join(data, 'outside');
    await rename(join(folder, folderOf(TREE)), outside);
    await symlink(outside, join(folder, folderOf(TREE)));
    const before = await readdir(outside);
    await expect(store.content(document)).rejects.toThrow('no folder');
    await expect(write('b', LONG)).rejects.toThrow('no folder');
    const remove: Edit = { kind: 'remove', path: 'a' };
    await store.change(['a'], () => ({ edits: [remove], value: undefined }));
    expect(await readdir(outside)).toEqual(before);
  });
});

describe('the sweep', () => {
  const far = 86_400;

  test('the sweep covers all trees, and keeps the files that their rows name', async () => {
    expect(await disk.sweep(far)).toBe(0);
    const { file } = await write('a', LONG);
    await write('short', 'x');
    const other = await disk.tree('/dav?person=b', 'alice');
    const theirs = await write('a', LONG, other);
    await writeFile(join(folder, '%2Fdocuments', 'orphan'), 'x');
    await writeFile(join(folder, '%2Fdav%3Fperson%3Db', 'orphan.part'), 'x');
    clock.advance(10_000 * far);
    expect(await disk.sweep(far)).toBe(2);
    expect(await files()).toEqual([file]);
    expect(await contents()).toHaveLength(2);
    expect(await files('/dav?person=b')).toEqual([theirs.file]);
  });

  test('the sweep ignores folders that belong to no tree, and follows no link', async () => {
    const outside = join(data, 'outside');
    const foreign = ['%ff', '%2fdocuments', '%2FApp', 'app/%2E'].map((name) => join(folder, name));
    for (const path of [outside, ...foreign]) {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, 'precious'), 'x');
    }
    await symlink(outside, join(folder, '%2Flinked'));
    await writeFile(join(folder, 'file'), 'x');
    clock.advance(10_000 * far);
    expect(await disk.sweep(far)).toBe(0);
    expect(await readdir(outside)).toEqual(['precious']);
  });
});

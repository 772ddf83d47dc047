import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { STATE } from './schema.ts';
import { edit } from '../contract/races.ts';
import { sqliteUnderTest } from './under-test.ts';

/** The migration that makes trees of documents that had a path only. */
const BEFORE_TREES = 3;

test('documents of before there were trees are in them, below collections', async () => {
  const store = await sqliteUnderTest();
  mkdirSync(store.spec().data);
  {
    using old = new DatabaseSync(store.statePath);
    for (const migration of STATE.migrations.slice(0, BEFORE_TREES)) old.exec(migration);
    old.exec(`PRAGMA user_version = ${BEFORE_TREES}`);
    const insert = old.prepare('INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?)');
    for (const [n, path] of ['a/b/c', 'a/b/d', 'a', 'a b/x', 'é/ü', 'x'].entries()) {
      insert.run('/documents', path, `etag${n}`, 'text/plain', 10, 1000 + n, `file${n}`);
    }
    insert.run('/hidden', 'z/z/z', 'etag', 'text/plain', 3, 5, 'file0');
  }
  await using stores = await store.open();
  const below = await stores.trees.below('/documents', '', 99);
  expect(below.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'collection a',
    'collection a b',
    // There was a document a, too.
    'document a.file2',
    'document x',
    'collection é',
    'collection a/b',
    'document a b/x',
    'document a/b/c',
    'document a/b/d',
    'document é/ü',
  ]);
  expect(await stores.trees.get('/documents', 'a/b/d')).toEqual({
    path: 'a/b/d',
    kind: 'document',
    revision: expect.stringMatching(/^[0-9a-f]{32}$/),
    etag: 'etag1',
    type: 'text/plain',
    length: 10,
    created: 1001,
    modified: 1001,
    file: 'file1',
    properties: {},
  });
  expect(await stores.trees.get('/documents', 'a')).toMatchObject({
    created: 1000,
    modified: 1001,
  });
  expect(new Set(below.map(({ revision }) => revision)).size).toBe(below.length);
  expect((await stores.trees.look('/documents', [])).usage).toEqual({ bytes: 60, entries: 10 });
  expect((await stores.trees.look('/hidden', [])).usage).toEqual({ bytes: 3, entries: 3 });
  expect(await stores.trees.files('/hidden')).toEqual(new Set(['file0']));
  await edit(stores, '/hidden', [{ kind: 'remove', path: 'z' }]);
  expect((await stores.trees.look('/hidden', [])).usage).toEqual({ bytes: 0, entries: 0 });
  await store.end();
});

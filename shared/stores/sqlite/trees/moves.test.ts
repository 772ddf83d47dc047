/** @slow */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import {
  clear,
  edit,
  membersIn,
  move,
  puts,
  someCollection,
  someDocument,
} from '../../contract/samples.ts';
import { sqliteUnderTest } from '../under-test.ts';

const MANY = 3_000;
const TREE = '/documents';

const rowsOf = (path: string) => {
  using database = new DatabaseSync(path, { readOnly: true });
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
  return {
    resource: count('resource'),
    collection: count('collection'),
    tree_copy: count('tree_copy'),
  };
};

test('RFC 4918 section 9.9: after SIGKILL during moves, copies and removals, each is done or not done, and a background task cleans up', async () => {
  const store = await sqliteUnderTest();
  const documents = Array.from({ length: MANY }, (_, n) => someDocument(`a/b/${n}`));
  const length = documents.reduce((sum, document) => sum + document.length, 0);
  {
    await using stores = await store.open();
    const collections = [someCollection('a'), someCollection('a/b')];
    await edit(stores, TREE, puts(...collections, ...documents));
  }
  const places = new Set<string>();
  for (let round = 0; round < 10; round++) {
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        join(import.meta.dirname, 'mover.fixture.ts'),
        store.spec().data,
        TREE,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const exit = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      // The process is killed after another number of changes each time, during the next change.
      if (lines.length !== 1 + round) continue;
      await delay(Math.random() * 40);
      child.kill('SIGKILL');
    }
    await exit;
    expect(new Set(lines)).toEqual(new Set(['done']));

    await using stores = await store.open();
    const top = (await membersIn(stores, TREE)).map(({ path }) => path);
    places.add(top.join());
    expect(['a', 'b', 'c', 'b,c']).toContain(top.join());
    for (const path of top) {
      const below = await stores.trees.below(TREE, path, 2 * MANY);
      expect(below).toHaveLength(1 + MANY);
      const names = new Set(below.slice(1).map((entry) => entry.path.slice(path.length)));
      expect(documents.filter(({ path: from }) => !names.has(from.slice(1)))).toEqual([]);
    }
    store.clock.advance(61_000);
    await clear(stores);
    expect(rowsOf(store.statePath)).toEqual({
      resource: top.length * (MANY + 2),
      collection: top.length * 2,
      tree_copy: 0,
    });
    expect((await stores.trees.look(TREE, [])).usage).toEqual({
      bytes: top.length * length,
      entries: top.length * (MANY + 2),
    });
    expect((await stores.trees.files(TREE)).size).toBe(MANY);
    const [first = '', ...others] = top.map((path) => `old-${path}`);
    await edit(stores, TREE, [
      ...top.map((path) => move(path, `old-${path}`)),
      move(first, 'a'),
      ...others.map((path) => ({ kind: 'remove', path }) as const),
    ]);
  }
  expect(places.size).toBeGreaterThan(1);
  await store.end();
});

/** @slow */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  clear,
  copy,
  edit,
  membersIn,
  move,
  NO_QUOTA,
  puts,
  putWith,
  someCollection,
  someDocument,
} from '../../contract/samples.ts';
import type { Stores } from '../../stores.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../under-test.ts';

const TREE = '/documents';
const MANY = 1_000;
/** Rows of one transaction. */
const SLICE = 200;

let store: SqliteUnderTest;
let one: Stores;
let other: Stores;
beforeEach(async () => {
  store = await sqliteUnderTest();
  one = await store.open();
  other = await store.open();
});
afterEach(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await store.end();
});

function within<T>(work: (database: DatabaseSync) => T): T {
  using database = new DatabaseSync(store.statePath);
  return work(database);
}

/** Counts each write of a row of a tree from now on. */
function countWrites(): void {
  within((database) => {
    database.exec('CREATE TABLE written (what TEXT)');
    for (const what of ['INSERT', 'UPDATE', 'DELETE']) {
      database.exec(
        `CREATE TRIGGER count_${what} AFTER ${what} ON resource BEGIN
           INSERT INTO written VALUES ('${what}');
         END`,
      );
    }
  });
}

function written(): Readonly<Record<string, number>> {
  return within((database) => {
    const rows = database.prepare('DELETE FROM written RETURNING what').all();
    const counts: Record<string, number> = {};
    for (const { what } of rows) counts[String(what)] = (counts[String(what)] ?? 0) + 1;
    return counts;
  });
}

const rows = (table: string) =>
  within((database) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']));

const usage = async () => (await other.trees.look(TREE, [])).usage;

/** Fills `a` and `a/b` with documents whose content is a row, and returns the bytes of all. */
async function fill(): Promise<number> {
  const documents = Array.from({ length: MANY }, (_, n) =>
    putWith(n % 2 ? `a/${n}` : `a/b/${n}`, Buffer.from(`${n}`), { file: `f${n}` }),
  );
  await edit(one, TREE, [...puts(someCollection('a'), someCollection('a/b')), ...documents]);
  return (await usage()).bytes;
}

describe('rows of a tree', () => {
  test('RFC 4918 section 9.9: MOVE writes one row, however many documents are below', async () => {
    await fill();
    countWrites();
    await edit(one, TREE, [move('a', 'c')]);
    expect(written()).toEqual({ UPDATE: 1 });
    expect(await other.trees.get(TREE, 'c/b/0')).toMatchObject({ path: 'c/b/0', file: 'f0' });
    await edit(one, TREE, [move('c/b', 'b')]);
    expect(written()).toEqual({ UPDATE: 1 });
    expect(await usage()).toMatchObject({ entries: MANY + 2 });
  });

  test('RFC 4918 section 9.6.1: DELETE frees the quota at once; no transaction removes more than a slice of the rows', async () => {
    await fill();
    countWrites();
    const outcome = await edit(one, TREE, [{ kind: 'remove', path: 'a' }]);
    expect(written()['DELETE']).toBeLessThanOrEqual(SLICE);
    expect(outcome).toEqual({ kind: 'done', released: [] });
    expect(await usage()).toEqual({ bytes: 0, entries: 0 });
    expect(await other.trees.below(TREE, '', 9)).toEqual([]);

    let slices = 0;
    while ((await other.trees.clear()) !== undefined) {
      expect(written()['DELETE']).toBeLessThanOrEqual(SLICE);
      slices += 1;
    }
    expect(slices).toBeGreaterThanOrEqual(Math.floor(MANY / SLICE) - 1);
    for (const table of ['resource', 'collection', 'content']) expect(rows(table)).toBe(0);
  });

  test('a collection of the same name can be made at once, and keeps its new documents while the rows of the former are removed', async () => {
    await fill();
    await edit(one, TREE, [{ kind: 'remove', path: 'a' }]);
    await edit(one, TREE, [
      ...puts(someCollection('a')),
      putWith('a/1', Buffer.from('1'), { file: 'f1' }),
    ]);
    await clear(other);
    expect(await other.trees.content(TREE, 'f1')).toEqual(Buffer.from('1'));
    expect(await other.trees.content(TREE, 'f3')).toBeUndefined();
    expect(rows('resource')).toBe(2);
    expect(await usage()).toEqual({ bytes: 1, entries: 2 });
  });

  test('RFC 4918 section 9.8.3: the target of COPY is visible only when it is complete, and other requests may write meanwhile', async () => {
    const bytes = await fill();
    const copying = edit(one, TREE, [copy('a', 'c')]);
    let others = 0;
    const done = new AbortController();
    void copying.then(() => done.abort());
    while (!done.signal.aborted) {
      const { entries, usage: used } = await other.trees.look(TREE, ['c', 'c/b/0']);
      const there = [...entries.values()].filter((entry) => entry !== undefined);
      expect([0, 2]).toContain(there.length);
      // COPY reserves its quota before it copies the first row.
      expect([bytes, 2 * bytes]).toContain(used.bytes);
      await edit(other, '/others', puts(someDocument(`${others}`)));
      others += 1;
    }
    expect(await copying).toEqual({ kind: 'done', released: [] });
    expect(others).toBeGreaterThanOrEqual(MANY / SLICE);
    expect(await other.trees.below(TREE, 'c', 9_999)).toHaveLength(MANY + 1);
    expect(await usage()).toEqual({ bytes: 2 * bytes, entries: 2 * (MANY + 2) });
  });

  test('COPY ends even if other requests write into its tree without a pause', async () => {
    await fill();
    const copying = edit(one, TREE, [copy('a', 'c')]);
    const done = new AbortController();
    void copying.finally(() => done.abort());
    const writers = [one, other, one, other].map(async (by, n) => {
      while (!done.signal.aborted) await edit(by, TREE, puts(someDocument(`${n}`)));
    });
    expect(await copying).toEqual({ kind: 'done', released: [] });
    await Promise.all(writers);
    expect(await other.trees.below(TREE, 'c', 9_999)).toHaveLength(MANY + 1);
  });

  test('RFC 4331 section 3: COPY that exceeds the quota is refused before a row is written, also beside another COPY', async () => {
    const bytes = await fill();
    countWrites();
    const quota = { ...NO_QUOTA, bytes: 3 * bytes - 1 };
    expect(await edit(one, TREE, [copy('a', 'c')], {}, { ...quota, bytes: 2 * bytes - 1 })).toEqual(
      {
        kind: 'full',
      },
    );
    expect(written()).toEqual({});
    const outcomes = await Promise.all(
      [one, other].map((by, n) => edit(by, TREE, [copy('a', `c${n}`)], {}, quota)),
    );
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['done', 'full']);
    expect(await usage()).toEqual({ bytes: 2 * bytes, entries: 2 * (MANY + 2) });
    expect(await clear(one)).toEqual([]);
    expect(rows('resource')).toBe(2 * (MANY + 2));
    expect(rows('tree_copy')).toBe(0);
  });

  test('COPY that replaces a target counts only the difference against the quota, even if the source shrinks meanwhile', async () => {
    const bytes = await fill();
    await edit(one, TREE, [copy('a', 'c')]);
    const replace = [{ kind: 'remove', path: 'c' } as const, copy('a', 'c')];
    const quota = { ...NO_QUOTA, bytes: 0 };
    expect(await edit(one, TREE, replace, {}, quota)).toMatchObject({ kind: 'done' });
    await clear(one);
    expect(await usage()).toEqual({ bytes: 2 * bytes, entries: 2 * (MANY + 2) });
    expect(rows('resource')).toBe(2 * (MANY + 2));
    expect(rows('content')).toBe(MANY);
  });

  test.each([
    ['a move within', move('a/b', 'a/z')],
    ['a removal within', { kind: 'remove', path: 'a/b' } as const],
    ['a move of it', move('a', 'z')],
  ])('COPY conflicts after %s, leaves no rows, and frees its quota', async (_, meanwhile) => {
    await fill();
    const source = await one.trees.get(TREE, 'a');
    const copying = edit(one, TREE, [copy('a', 'c')], { a: source?.revision });
    while (rows('tree_copy') === 0) await new Promise(setImmediate);
    await edit(other, TREE, [meanwhile]);
    expect(await copying).toEqual({ kind: 'conflict' });
    await clear(one);
    expect(await other.trees.get(TREE, 'c')).toBeUndefined();
    expect(rows('resource')).toBe((await usage()).entries);
    expect(rows('tree_copy')).toBe(0);
  });

  test('COPY goes on if documents are removed from its source meanwhile; the copy may have them or not', async () => {
    await fill();
    const copying = edit(one, TREE, [copy('a', 'c')]);
    while (rows('tree_copy') === 0) await new Promise(setImmediate);
    for (const path of ['a/1', 'a/999', 'a/b/0', 'a/b/998']) {
      await edit(other, TREE, [{ kind: 'remove', path }]);
    }
    expect(await copying).toMatchObject({ kind: 'done' });
    await clear(one);
    const copied = await other.trees.below(TREE, 'c', 9_999);
    expect(copied.length).toBeGreaterThanOrEqual(MANY + 1 - 4);
    for (const entry of copied) {
      if (entry.kind === 'document')
        expect(await other.trees.content(TREE, entry.file)).toBeDefined();
    }
    expect(rows('resource')).toBe((await usage()).entries);
  });

  test('a document that is put into the source during COPY counts against the quota, whether or not the copy has it', async () => {
    await fill();
    const copying = edit(one, TREE, [copy('a', 'c')]);
    for (let n = 0; n < 20; n += 1) {
      await edit(other, TREE, puts(someDocument(`a/${n % 2 ? '0' : 'zz'}${n}`, { length: 1000 })));
    }
    expect(await copying).toMatchObject({ kind: 'done' });
    const all = await other.trees.below(TREE, '', 9_999);
    expect(await usage()).toEqual({
      bytes: all.reduce((sum, entry) => sum + (entry.kind === 'document' ? entry.length : 0), 0),
      entries: all.length,
    });
    await edit(one, TREE, [
      { kind: 'remove', path: 'c' },
      { kind: 'remove', path: 'a' },
    ]);
    expect(await usage()).toEqual({ bytes: 0, entries: 0 });
  });

  test('RFC 4918 section 9.9.3: of two collections that are moved into one another, one is moved, and no collection is within itself', async () => {
    for (let round = 0; round < 10; round += 1) {
      const tree = `/${round}`;
      await edit(one, tree, puts(someCollection('a'), someCollection('b')));
      const view = await one.trees.look(tree, ['a', 'b']);
      const seen = new Map([...view.entries].map(([path, entry]) => [path, entry?.revision]));
      const go = (by: Stores, from: string, to: string) =>
        by.trees.commit(tree, {
          seen,
          locksVersion: view.locksVersion,
          edits: [move(from, to)],
          quota: NO_QUOTA,
        });
      const outcomes = await Promise.all([go(one, 'a', 'b/a'), go(other, 'b', 'a/b')]);
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done']);
      const paths = (await one.trees.below(tree, '', 9)).map(({ path }) => path).join();
      expect(['a,a/b', 'b,b/a']).toContain(paths);
    }
  });

  test('if ten requests at the same time move, copy, remove and put, the used quota matches the documents', async () => {
    await fill();
    const works = Array.from({ length: 10 }, (_, n) => async () => {
      const by = n % 2 ? one : other;
      for (let round = 0; round < 6; round += 1) {
        const kind = (n + round) % 5;
        const [from, to] = [`c${(n * 3 + round) % 4}`, `c${(n + round * 2) % 4}`];
        await edit(
          by,
          TREE,
          kind === 0
            ? [copy('a', `n${n}-${round}`)]
            : kind === 1
              ? [{ kind: 'remove', path: from }]
              : kind === 2
                ? [move(`n${n - 1}-${round}`, to)]
                : kind === 3
                  ? puts(someDocument(`a/b/n${n}-${round}`))
                  : [move(from, `a/m${n}-${round}`)],
        ).catch((error: Error) => {
          if (error.name !== 'ImpossibleEdit') throw error;
        });
      }
    });
    await Promise.all(works.map((work) => work()));
    await clear(one);
    const all = await other.trees.below(TREE, '', 99_999);
    expect((await usage()).entries).toBe(all.length);
    expect(rows('resource')).toBe(all.length);
    expect(rows('collection')).toBe(all.filter(({ kind }) => kind === 'collection').length);
    const paths = (await membersIn(other, TREE)).map(({ path }) => path);
    await edit(
      one,
      TREE,
      paths.map((path) => ({ kind: 'remove', path }) as const),
    );
    expect(await usage()).toEqual({ bytes: 0, entries: 0 });
    await clear(one);
    for (const table of ['resource', 'collection', 'content']) expect(rows(table)).toBe(0);
  });
});

/** @slow */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { listening } from '../contract/cache/invalidations.ts';
import { someInvalidation } from '../contract/samples.ts';
import {
  INVALIDATION_LIFE,
  type KeptInvalidation,
  MOST_INVALIDATIONS,
} from '../cache/invalidations.ts';
import type { Stores } from '../stores.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { backupSqlite } from './backup/backup.ts';
import { restore, sqliteUnderTest, type SqliteUnderTest } from './under-test.ts';

let store: SqliteUnderTest;
let stores: Stores;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  await stores.revocations.epoch(true);
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

const add = (...values: readonly string[]) =>
  stores.invalidations.add(values.map((value) => someInvalidation(value)));
const valuesOf = (heard: readonly (KeptInvalidation | 'lost')[]) =>
  heard.map((each) => (each === 'lost' ? each : each.value));
const rawly = (sql: string) => {
  using database = new DatabaseSync(store.statePath, { timeout: 2_000 });
  return database.prepare(sql).all();
};
const seqs = () => rawly('SELECT seq FROM invalidation ORDER BY seq').map((row) => row['seq']);
const sweepAll = async () => {
  while ((await stores.sweep()) > 0);
};

test('a backup has no invalidations; after it is restored under a running feed, caches must drop all answers', async () => {
  await add('/secret');
  await using listener = await listening(stores);
  const { position } = listener.feed;
  const target = join(store.folder, 'backups');
  const copy = backupSqlite(store.spec().data, target);
  expect(readFileSync(copy, 'latin1')).not.toContain('/secret');
  await add('since');
  expect(valuesOf(await listener.hear())).toEqual(['since']);

  await restore(copy, store.statePath);
  store.clock.advance(1);
  await expect(listener.hear()).rejects.toThrow(StoreUnavailable);
  await stores.revocations.epoch(true);
  expect(await listener.hear()).toEqual(['lost']);
  await using late = await listening(stores, position);
  expect(await late.hear()).toEqual(['lost']);
  await add('after');
  for (const { hear } of [listener, late]) expect(valuesOf(await hear())).toEqual(['after']);
});

test('if an older file of the same epoch is restored, which gives numbers again, caches drop all answers within a second', async () => {
  await add('a');
  await using listener = await listening(stores);
  const copy = join(store.folder, 'copy.db');
  rawly(`VACUUM INTO '${copy}'`);
  await add('b');
  await listener.hear();
  await restore(copy, store.statePath);
  await add('c', 'd');
  store.clock.advance(1);
  expect(await listener.hear()).toEqual(['lost']);
  await add('e');
  expect(valuesOf(await listener.hear())).toEqual(['e']);
});

test('if rows are rolled back in the same file, caches drop all answers within a second', async () => {
  await using listener = await listening(stores);
  await add('a', 'b');
  await listener.hear();
  rawly('DELETE FROM invalidation');
  rawly("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'invalidation'");
  store.clock.advance(1);
  expect(await listener.hear()).toEqual(['lost']);
});

test('while the file is missing, queries fail; when it is back, caches drop all answers, once', async () => {
  await using listener = await listening(stores);
  await add('a');
  await stores[Symbol.asyncDispose]();
  rawly('PRAGMA wal_checkpoint(TRUNCATE)');
  const away = join(store.folder, 'away.db');
  renameSync(store.statePath, away);
  store.clock.advance(1);
  await expect(listener.hear()).rejects.toThrow('there is no such file');
  await using early = await listening(stores);
  await expect(early.hear()).rejects.toThrow(StoreUnavailable);
  expect(early.feed.position).toBe('');
  await restore(away, store.statePath);
  expect(await listener.hear()).toEqual(['lost']);
  expect(await listener.hear()).toEqual([]);
  expect(await early.hear()).toEqual([]);
  expect(early.feed.position).toBe(listener.feed.position);
});

describe('sweeping', () => {
  test('an invalidation older than a day is removed: a reader that has it goes on, a reader that lacks it drops all answers', async () => {
    await using ahead = await listening(stores);
    const { position } = ahead.feed;
    await add(...Array.from({ length: 250 }, (_, n) => `old ${n}`));
    await ahead.hear();
    store.clock.advance(INVALIDATION_LIFE / 1000 - 10);
    await add('young');
    await sweepAll();
    expect(seqs()).toHaveLength(251);
    store.clock.advance(20);
    await sweepAll();
    expect(seqs()).toEqual([251]);
    await using behind = await listening(stores, position);
    expect(await behind.hear()).toEqual(['lost']);
    expect(valuesOf(await ahead.hear())).toEqual(['young']);
    store.clock.advance(INVALIDATION_LIFE / 1000);
    await sweepAll();
    expect(seqs()).toEqual([]);
    for (const { hear } of [ahead, behind]) expect(await hear()).toEqual([]);
    await using same = await listening(stores, ahead.feed.position);
    await add('next');
    for (const { hear } of [ahead, behind, same]) expect(valuesOf(await hear())).toEqual(['next']);
  });

  test("removes invalidations in the order of the feed, whatever the writers' clocks said", async () => {
    const day = INVALIDATION_LIFE;
    const now = store.clock.now();
    for (let n = 1; n <= 400; n += 1) {
      // New and old invalidations alternate.
      const at = n % 2 === 0 ? now : now - 2 * day - ((n * 37) % 400);
      rawly(
        `INSERT INTO invalidation (space, kind, value, soft, at) VALUES ('', 'ban', '', 0, ${at})`,
      );
    }
    const rest = async () => {
      const [first = 401, ...others] = seqs().map(Number);
      expect(others).toEqual(others.map((_, n) => first + 1 + n));
      return first;
    };
    while ((await stores.sweep()) > 0) await rest();
    expect(await rest()).toBe(400);
  });
});

test('if there are too many invalidations, the oldest are removed; a reader that lacks one drops all answers, others read the rest', async () => {
  await add('first');
  await using listener = await listening(stores);
  const { position } = listener.feed;
  rawly(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${MOST_INVALIDATIONS})
    INSERT INTO invalidation (space, kind, value, soft, at)
    SELECT '', 'target', n, 0, ${store.clock.now()} FROM n`);
  await add('a');
  expect(seqs()).toHaveLength(MOST_INVALIDATIONS);

  const opening = listening(stores, position.replace(/1$/, '2'));
  let turns = 0;
  const count = setInterval(() => (turns += 1), 0);
  await using late = await opening;
  clearInterval(count);
  expect(turns).toBeGreaterThan(1);
  expect(late.heard).toHaveLength(MOST_INVALIDATIONS);
  expect(valuesOf(late.heard.slice(-2))).toEqual([`${MOST_INVALIDATIONS}`, 'a']);
  await using tooLate = await listening(stores, position);
  expect(await tooLate.hear()).toEqual(['lost']);
  store.clock.advance(1);
  expect(await listener.hear()).toEqual(['lost']);
});

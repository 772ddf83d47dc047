import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { configSchema } from '#shared/config/schema.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { backupChore } from './backup-chore.ts';

const HOUR = 3600;

let store: SqliteUnderTest;
let stores: Stores;
let made: unknown[];
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  made = [];
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

const folder = () => join(store.folder, 'backups');

/** Returns the backup chore of a server whose store is `data`. */
function chore(data = store.spec().data) {
  const log = { ...silentLog, info: (event: string) => made.push(event) };
  const parts = { config: configSchema.parse({ data }), stores, random: systemRandom, log };
  const settings = { folder: folder(), every: HOUR, keep: 1 };
  return backupChore({ ...parts, clock: store.clock }, settings);
}

test('a failed backup is logged, and repeated after a minute until it succeeds', async () => {
  const data = join(store.folder, 'later');
  await using running = chore(data);
  await expect(running.run()).rejects.toThrow('no such file');
  mkdirSync(data);
  cpSync(store.spec().data, data, { recursive: true });
  await running.run();
  expect(made).toEqual([]);
  expect(await stores.lastBackup.get()).toBeUndefined();
  store.clock.advance(60);
  await running.run();
  await running.run();
  expect(made).toEqual(['backup.made']);
  expect(await stores.lastBackup.get()).toBe(store.clock.now());
});

test('a backup whose process died before it noted the backup counts from the beginning of its period', async () => {
  store.clock.advance(60);
  {
    await using died = chore();
    await died.run();
  }
  const { clock } = store;
  const begin = clock.now() - (clock.now() % (HOUR * 1000));
  for (const [noted, known] of [
    [begin - 1, begin],
    [clock.now() + 1, begin],
    [begin + 1, begin + 1],
  ] as const) {
    await stores.lastBackup.note(noted);
    await using running = chore();
    await running.run();
    expect(await stores.lastBackup.get()).toBe(known);
  }
  expect(made).toEqual(['backup.made']);
});

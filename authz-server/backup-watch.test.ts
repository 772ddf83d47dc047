import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { backupWatch } from './compose.ts';

const HOUR = 3600;

let store: SqliteUnderTest;
let stores: Stores;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  await store.end();
});

/** Starts a server now. Returns it with the reasons of its warnings. */
function watched() {
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (_: string, { reason = '' } = {}) => warnings.push(reason) };
  const { run } = backupWatch({ stores, clock: store.clock, log }, { every: HOUR });
  return { run, warnings };
}

/** Moves the clock to the beginning of the next period. */
const nextPeriod = () => store.clock.advance(HOUR - ((store.clock.now() / 1000) % HOUR));

test('the server warns once of each period without a successful backup', async () => {
  await stores.lastBackup.note(store.clock.now());
  const { run, warnings } = watched();
  await run();
  nextPeriod();
  await run();
  expect(warnings).toEqual([]);
  for (const count of [1, 2]) {
    nextPeriod();
    await run();
    await run();
    expect(warnings).toHaveLength(count);
  }
  expect(warnings[0]).toMatch(/^no good backup for 3600 seconds: the last is of \d{4}-.*Z$/);
  await stores.lastBackup.note(store.clock.now());
  nextPeriod();
  await run();
  expect(warnings).toHaveLength(2);
});

test('the server warns of a store without any backup after a whole period, not at the start', async () => {
  const { run, warnings } = watched();
  nextPeriod();
  await run();
  expect(warnings).toEqual([]);
  nextPeriod();
  await run();
  expect(warnings).toEqual(['no good backup for 3600 seconds: none is known']);
});

import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { onceFor } from '../../contract/samples.ts';
import { rememberUntil } from '../../revocation/lifetime.ts';
import type { Stores } from '../../stores.ts';
import { STATE, TRANSIENT } from '../schema/state.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../under-test.ts';

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

/** Writes to the file directly, to make rows as a store leaves them after days. */
function rawly<T>({ file }: typeof STATE, work: (database: DatabaseSync) => T): T {
  using database = new DatabaseSync(join(store.folder, 'data', file));
  return work(database);
}

/** Inserts as many rows that have expired, and two that have not. */
function fill(schema: typeof STATE, insert: string, count: number): void {
  rawly(schema, (database) =>
    database
      .prepare(
        `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 + 2) ${insert}`,
      )
      .run(count, store.clock.now()),
  );
}

const EXPIRES = '?2 + iif(n <= ?1, -n, 600000)';

test('one sweep removes all expired rows, and requests are handled between its batches', async () => {
  const MANY = 20_000;
  fill(TRANSIENT, `INSERT INTO replay SELECT randomblob(32), ${EXPIRES} FROM n`, MANY);
  fill(STATE, `INSERT INTO spent_token SELECT randomblob(32), ${EXPIRES} FROM n`, MANY);
  let turns = 0;
  const done = new AbortController();
  const sweeping = stores.sweep().finally(() => done.abort());
  while (!done.signal.aborted) {
    await turn();
    turns += 1;
    expect(await stores.replay.unique('a', String(turns), 600)).toBe(true);
  }
  expect(await sweeping).toBe(2 * MANY);
  // 400 rows are removed at a time from each of the two files.
  expect(turns).toBeGreaterThan(MANY / 400);
  expect(await store.countAll()).toBeLessThan(turns + 100);
  for (const [schema, table] of [
    [TRANSIENT, 'replay'],
    [STATE, 'spent_token'],
  ] as const) {
    const [row] = rawly(schema, (database) =>
      database
        .prepare(`SELECT count(*) AS n FROM ${table} WHERE ${schema.expired[table]?.when}`)
        .all(store.clock.now()),
    );
    expect(row?.['n']).toBe(0);
  }
});

test('the more rows have expired, the larger are the batches, in both files at the same time', async () => {
  const MANY = 10_000;
  fill(TRANSIENT, `INSERT INTO replay SELECT randomblob(32), ${EXPIRES} FROM n`, MANY);
  fill(STATE, `INSERT INTO spent_token SELECT randomblob(32), ${EXPIRES} FROM n`, MANY);
  const left = (schema: typeof STATE, table: string) =>
    rawly(schema, (database) => database.prepare(`SELECT count(*) AS n FROM ${table}`).all())[0]?.[
      'n'
    ];
  const seen: (readonly [unknown, unknown])[] = [];
  const sweeping = stores.sweep();
  const done = new AbortController();
  void sweeping.finally(() => done.abort());
  while (!done.signal.aborted) {
    seen.push([left(TRANSIENT, 'replay'), left(STATE, 'spent_token')]);
    await turn();
  }
  expect(await sweeping).toBe(2 * MANY);
  const isUnderWay = (rows: unknown) => Number(rows) > 2 && Number(rows) < MANY;
  expect(seen.some(([one, other]) => isUnderWay(one) && isUnderWay(other))).toBe(true);
  const steps = seen.flatMap(([rows], n) => Number(seen[n - 1]?.[0] ?? rows) - Number(rows));
  expect(steps).toContain(100);
  expect(Math.max(...steps)).toBeGreaterThanOrEqual(400);
});

test('a grant that was refreshed ten thousand times is removed completely, in batches', async () => {
  const MANY = 10_000;
  const columns = '(kind, id, payload, grant_id)';
  const row = `'RefreshToken', 't' || n, '{}', 'g' || iif(n <= ?1, n % 2, 'other')`;
  fill(STATE, `INSERT INTO artefact ${columns} SELECT ${row} FROM n WHERE ?2 > 0`, MANY);
  let turns = 0;
  const done = new AbortController();
  const ending = stores.artefacts.removeByGrant('g0', 'g1').finally(() => done.abort());
  while (!done.signal.aborted) {
    await turn();
    turns += 1;
  }
  await ending;
  expect(turns).toBeGreaterThan(10);
  expect(await store.countAll()).toBe(2);
});

describe('if the clock is ahead for a while and then set right', () => {
  const AHEAD = 3 * 3_600;

  test('revocations, used proofs, counts and spent tokens are kept', async () => {
    await stores.revocations.epoch(true);
    const now = store.clock.now();
    await stores.revocations.revoke('token', 'j', rememberUntil(now, 605));
    const once = async () => [
      await stores.replay.unique('proof', 'p', 660),
      (await stores.useCounts.use('nonce', 'n', 1, onceFor(660))) === 'first',
      await stores.spentTokens.spend(Buffer.from('t'), rememberUntil(now, 605)),
    ];
    expect(await once()).toEqual([true, true, true]);
    await using feed = await stores.revocations.feed();
    const entries = async () => {
      feed.current();
      await using another = await stores.revocations.feed();
      return [feed.status().entries, another.status().entries];
    };
    store.clock.set(AHEAD);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      await stores.sweep();
      await entries();
      store.clock.advance(60);
    }
    store.clock.set(-AHEAD);
    await stores.sweep();
    expect(await once()).toEqual([false, false, false]);
    expect(await entries()).toEqual([1, 1]);
  });

  test('sweeping begins again two hours after the clock was right again', async () => {
    await stores.replay.unique('proof', 'p', 660);
    store.clock.set(AHEAD);
    expect(await stores.sweep()).toBe(0);
    store.clock.advance(7_199);
    expect(await stores.sweep()).toBe(0);
    store.clock.advance(1);
    expect(await stores.sweep()).toBe(1);
  });

  test('a clock that is corrected slowly, by seconds a minute, does not count as ahead', async () => {
    await stores.replay.unique('proof', 'p', 1);
    for (let minute = 0; minute < 60; minute += 1) {
      store.clock.advance(60);
      store.clock.set(minute % 2 ? 4 : -4);
      if ((await stores.sweep()) === 1) return;
    }
    throw new Error('it was never swept');
  });
});

/** @slow */
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fresh } from '../contract/samples.ts';
import { startRacer } from '../contract/racing/start-racer.ts';
import type { RevocationFeed } from '../revocation/revocations.ts';
import type { Stores } from '../stores.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { restore, sqliteUnderTest, type SqliteUnderTest } from './under-test.ts';

let store: SqliteUnderTest;
let stores: Stores;
let feed: RevocationFeed;
let epoch: string;
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  epoch = (await stores.revocations.epoch(true)) ?? '';
  feed = await stores.revocations.feed();
});
afterEach(async () => {
  await feed[Symbol.asyncDispose]();
  await stores[Symbol.asyncDispose]();
  await store.end();
});

const until = () => store.clock.now() + 3_600_000;
const token = (jti: string) => ({ jti, kid: 'k', sub: 's', client_id: 'c', client_gen: 0, epoch });
const revoke = async () => {
  const jti = fresh();
  await stores.revocations.revoke('token', jti, until());
  return token(jti);
};
const revokedBy = (jti: { jti: string }) => feed.current().revokedBy(token(jti.jti));
const rawly = (sql: string) => {
  using database = new DatabaseSync(store.statePath, { timeout: 2_000 });
  database.exec(sql);
};

test('a revocation is in the next view at once, a hundred times', async () => {
  for (let n = 0; n < 100; n++) {
    feed.current();
    expect(revokedBy(await revoke())).toBe('token');
  }
});

test('a revocation acknowledged by another process is in the next view', async () => {
  await using racer = await startRacer(store.spec());
  for (let n = 0; n < 20; n++) {
    feed.current();
    await racer.carryOut({ raise: 'alice', attempts: 1, at: 0 });
    const claims = { ...token(fresh()), sub: 'alice', sub_gen: n };
    expect(feed.current().revokedBy(claims)).toBe('person');
    expect(feed.current().revokedBy({ ...claims, sub_gen: n + 1 })).toBeUndefined();
  }
});

test('a swept number is not used again: after all rows were deleted, readers see the next row', async () => {
  const old = await revoke();
  expect(revokedBy(old)).toBe('token');
  const { cursor } = feed.status();
  store.clock.advance(3_601);
  while ((await stores.sweep()) > 0);
  expect(revokedBy(old)).toBeUndefined();
  expect(feed.status().entries).toBe(0);
  expect(revokedBy(await revoke())).toBe('token');
  expect(Number(feed.status().cursor)).toBe(Number(cursor) + 1);
});

test('if an older file of the same epoch is restored, its rows are read from the start and merged, and no revocation is forgotten', async () => {
  const first = await revoke();
  const copy = join(store.folder, 'copy.db');
  rawly(`VACUUM INTO '${copy}'`);
  const second = await revoke();
  expect([revokedBy(first), revokedBy(second)]).toEqual(['token', 'token']);
  await restore(copy, store.statePath);
  const third = await revoke();
  store.clock.advance(1);
  expect(revokedBy(third)).toBe('token');
  expect([revokedBy(first), revokedBy(second)]).toEqual(['token', 'token']);
});

test('if rows are rolled back in the same file, rows with numbers before the cursor are read again and merged', async () => {
  const [first, second] = [await revoke(), await revoke()];
  expect(revokedBy(second)).toBe('token');
  rawly("DELETE FROM revocation; UPDATE sqlite_sequence SET seq = 0 WHERE name = 'revocation'");
  const third = await revoke();
  store.clock.advance(1);
  expect(revokedBy(third)).toBe('token');
  expect([revokedBy(first), revokedBy(second)]).toEqual(['token', 'token']);
});

test('if the epoch disappears from the file, the view is not trusted within a second; a new epoch makes it trusted', async () => {
  const revoked = await revoke();
  expect(revokedBy(revoked)).toBe('token');
  rawly('DELETE FROM epoch');
  store.clock.advance(1);
  expect(() => feed.current()).toThrow('the store has no epoch');
  expect(feed.status().trusted).toBe(false);
  const next = (await stores.revocations.epoch(true)) ?? '';
  expect(next).not.toBe(epoch);
  expect(feed.current().revokedBy(revoked)).toBe('epoch');
  expect(feed.current().revokedBy({ ...revoked, epoch: next })).toBe('token');
});

test('a clock that is set back does not stop the verification', async () => {
  feed.current();
  rawly('DELETE FROM epoch');
  store.clock.advance(-86_400);
  expect(() => feed.current()).toThrow(StoreUnavailable);
});

test('a view is not trusted while the file is missing, and is trusted again when the file is back', async () => {
  const revoked = await revoke();
  expect(revokedBy(revoked)).toBe('token');
  await stores[Symbol.asyncDispose]();
  const away = join(store.folder, 'away.db');
  rawly('PRAGMA wal_checkpoint(TRUNCATE)');
  renameSync(store.statePath, away);
  store.clock.advance(1);
  expect(() => feed.current()).toThrow(StoreUnavailable);
  expect(() => feed.current()).toThrow('there is no such file');
  expect(feed.status()).toMatchObject({ trusted: false, silence: 1_000 });
  store.clock.advance(1);
  expect(feed.status().silence).toBe(2_000);
  await restore(away, store.statePath);
  expect(revokedBy(revoked)).toBe('token');
  expect(feed.status()).toMatchObject({ trusted: true, silence: 0 });
});

test('a view of a file that is no database is not trusted, and does not count as "nothing revoked"', async () => {
  const revoked = await revoke();
  expect(revokedBy(revoked)).toBe('token');
  rawly('PRAGMA wal_checkpoint(TRUNCATE)');
  const [good, garbage] = [join(store.folder, 'good.db'), join(store.folder, 'garbage.db')];
  copyFileSync(store.statePath, good);
  writeFileSync(garbage, Buffer.alloc(8_192, 'garbage'));
  await restore(garbage, store.statePath);
  store.clock.advance(1);
  expect(() => feed.current()).toThrow(StoreUnavailable);
  await expect(stores.revocations.generation('person', 'x')).rejects.toThrow(StoreUnavailable);
  await expect(stores.clients.get('x')).rejects.toThrow(StoreUnavailable);
  expect(readFileSync(store.statePath).subarray(0, 7).toString()).toBe('garbage');
  rmSync(store.statePath);
  await restore(good, store.statePath);
  expect(revokedBy(revoked)).toBe('token');
  expect(await stores.clients.get('x')).toBeUndefined();
});

test('many revocations are read with pauses for other work, at a start and after a restore; there is no view before all are read', async () => {
  const many = (letter: string, n: number) =>
    rawly(`WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${n})
      INSERT INTO revocation (kind, id, until) SELECT 'token', '${letter}' || n, ${until()} FROM count`);
  many('a', 35_000);
  expect(revokedBy(token('a35000'))).toBe('token');

  const opening = stores.revocations.feed();
  let turns = 0;
  const count = setInterval(() => (turns += 1), 0);
  await using other = await opening;
  clearInterval(count);
  expect(turns).toBeGreaterThan(1);
  expect(other.current().revokedBy(token('a35000'))).toBe('token');

  rawly("DELETE FROM revocation; UPDATE sqlite_sequence SET seq = 0 WHERE name = 'revocation'");
  many('b', 25_000);
  store.clock.advance(1);
  expect(() => feed.current()).toThrow('the revocations are still being read');
  expect(feed.status().trusted).toBe(false);
  expect(feed.current().revokedBy(token('b25000'))).toBe('token');
  expect(feed.current().revokedBy(token('a35000'))).toBe('token');
});

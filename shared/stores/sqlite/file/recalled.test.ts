import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { atTurnsEnd } from '#shared/base/turn.ts';
import {
  edit,
  FAR,
  fresh,
  puts,
  someApiKey,
  someClient,
  someDocument,
} from '../../contract/samples.ts';
import type { RevocationFeed } from '../../revocation/revocations.ts';
import type { Stores } from '../../stores.ts';
import { Connection } from './connection.ts';
import { SqliteFile } from './file.ts';
import { STATE } from '../schema/state.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../under-test.ts';

let store: SqliteUnderTest;
let stores: Stores;
let feed: RevocationFeed;
const statements: string[] = [];
beforeEach(async () => {
  store = await sqliteUnderTest();
  stores = await store.open();
  await stores.revocations.epoch(true);
  feed = await stores.revocations.feed();
  const { all } = Connection.prototype;
  jest.spyOn(Connection.prototype, 'all').mockImplementation(function watched(
    this: Connection,
    sql,
    ...values
  ) {
    statements.push(sql);
    return all.call(this, sql, ...values);
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await feed[Symbol.asyncDispose]();
  await stores[Symbol.asyncDispose]();
  await store.end();
});

const LOOK = 'PRAGMA data_version';

/** Returns how many statements with this beginning `work` has sent. */
async function count(beginning: string, work: () => Promise<unknown>): Promise<number> {
  statements.length = 0;
  await work();
  return statements.filter((sql) => sql.trimStart().startsWith(beginning)).length;
}

const together = (asks: readonly (() => unknown)[]) =>
  Promise.all(
    asks.map(
      (ask) =>
        new Promise<void>((resolve, reject) => {
          atTurnsEnd(
            () =>
              void Promise.resolve()
                .then(ask)
                .then(() => resolve(), reject),
          );
        }),
    ),
  );

const thrice = <T>(one: T): T[] => [one, one, one];

test('a row is read once, and requests of one turn check only once for new commits', async () => {
  const key = someApiKey(fresh());
  await stores.apiKeys.add(key);
  const read = () => stores.apiKeys.get(key.id);
  expect(await count('SELECT', read)).toBe(1);
  expect(await count('SELECT', read)).toBe(0);
  expect(await count(LOOK, read)).toBe(1);
  expect(await count(LOOK, () => together(thrice(read)))).toBe(1);
  await turn();
  expect(await count(LOOK, () => Promise.all(thrice(read).map((ask) => ask())))).toBe(3);
  expect(await read()).toEqual(key);
});

test('requests of one turn check only once for new revocations', async () => {
  const look = () => feed.latest();
  expect(await count('SELECT seq', () => together(thrice(look)))).toBe(1);
  await turn();
  expect(await count('SELECT seq', async () => thrice(look).map((ask) => ask()))).toBe(3);
});

test('after each commit all rows are read again, also rows that were absent', async () => {
  const ids = [fresh(), fresh()];
  const read = () => Promise.all(ids.map((id) => stores.apiKeys.get(id)));
  await read();
  expect(await count('SELECT', read)).toBe(0);
  using other = new DatabaseSync(store.statePath);
  other.exec("INSERT INTO generation VALUES ('person', 'x', 1)");
  expect(await count('SELECT', read)).toBe(2);
  await stores.revocations.raise('person', 'y', 1);
  expect(await count('SELECT', read)).toBe(2);
  expect(await count('SELECT', read)).toBe(0);
});

test('an uncommitted write of another process changes nothing', async () => {
  const key = someApiKey(fresh());
  await stores.apiKeys.add(key);
  using other = new DatabaseSync(store.statePath);
  other.exec('BEGIN IMMEDIATE; DELETE FROM api_key');
  expect(await stores.apiKeys.get(key.id)).toEqual(key);
  other.exec('ROLLBACK');
  expect(await stores.apiKeys.get(key.id)).toEqual(key);
});

test('a commit during the read of a row counts for the next read', async () => {
  await using file = new SqliteFile(store.statePath, STATE, store.clock);
  const recall = file.recalling<number>();
  using other = new DatabaseSync(store.statePath);
  let n = 0;
  const readAndWrite = () =>
    recall('generations', (connection) => {
      const { length } = connection.all('SELECT id FROM generation');
      if (n < 3) other.exec(`INSERT INTO generation VALUES ('person', '${n++}', 1)`);
      return length;
    });
  const read: number[] = [];
  for (let round = 0; round < 5; round += 1) read.push(await readAndWrite());
  expect(read).toEqual([0, 1, 2, 3, 3]);
});

test('if another file replaces the store, no cached row is used', async () => {
  const key = someApiKey(fresh());
  await stores.apiKeys.add(key);
  expect(await stores.apiKeys.get(key.id)).toEqual(key);
  await store.forget();
  expect(await stores.apiKeys.get(key.id)).toBeUndefined();
});

test('a write that fails or is rolled back leaves no cached row', async () => {
  using other = new DatabaseSync(store.statePath);
  const [added, kept] = [someApiKey(fresh()), someApiKey(fresh())];
  other.exec(`CREATE TRIGGER refuse AFTER INSERT ON api_key WHEN NEW.id = '${added.id}'
    BEGIN SELECT RAISE(ROLLBACK, 'no'); END`);
  const writes = [stores.apiKeys.add(kept), stores.apiKeys.add(added)];
  const reads = [kept, added].map(({ id }) => stores.apiKeys.get(id));
  expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ]);
  expect(await Promise.all(reads)).toEqual([undefined, undefined]);
  expect(await Promise.all([kept, added].map(({ id }) => stores.apiKeys.get(id)))).toEqual([
    undefined,
    undefined,
  ]);
});

test('a transaction reads the row that it wrote, even if it had read the row before', async () => {
  await stores.together(async (held) => {
    const client = someClient(fresh());
    const { client_id } = client;
    const read = () =>
      Promise.all([held.clients.get(client_id), held.revocations.generation('client', client_id)]);
    expect(await read()).toEqual([undefined, 0]);
    await held.clients.add(client);
    await held.revocations.raise('client', client_id, FAR);
    expect(await read()).toEqual([client, 1]);
  });
});

test('the cache is bounded, for many rows and for long rows', async () => {
  const tree = fresh();
  const long = someDocument('long', { properties: { '{urn:x}y': 'y'.repeat(2000) } });
  await edit(stores, tree, puts(someDocument('short'), long));
  const reading = (path: string) => () => stores.trees.get(tree, path);
  for (const path of ['short', 'long', 'x'.repeat(1000)]) await reading(path)();
  expect(await count('SELECT', reading('short'))).toBe(0);
  expect(await count('SELECT', reading('long'))).toBe(1);
  expect(await count('SELECT', reading('x'.repeat(1000)))).toBe(1);
  for (let n = 0; n < 3000; n += 1) await reading(`${n}`)();
  expect(await count('SELECT', reading('short'))).toBe(1);
});

test('no cached row is used after the file is removed', async () => {
  const key = someApiKey(fresh());
  await stores.apiKeys.add(key);
  await stores.apiKeys.get(key.id);
  renameSync(store.statePath, join(store.folder, 'away.db'));
  await turn();
  await expect(stores.apiKeys.get(key.id)).rejects.toThrow('there is no such file');
});

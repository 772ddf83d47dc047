import { DatabaseSync } from 'node:sqlite';
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { systemClock as clock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom as random } from '#shared/base/random.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import {
  edit,
  FAR,
  puts,
  putWith,
  someDocument,
  somePerson,
  someTokenKey,
} from '../contract/samples.ts';
import { openPostgres } from '../postgres/open.ts';
import type { PostgresSettings } from '../settings.ts';
import { tablesIn } from '../sqlite/backup/tables.ts';
import { migrate } from '../sqlite/file/migrate.ts';
import { openSqlite } from '../sqlite/open.ts';
import { STATE } from '../sqlite/schema/state.ts';
import { openBackupThreads } from './backup-threads.ts';
import { backupPostgres } from './from-postgres.ts';
import { rowsIn } from './rows-in.fixture.ts';
import { makeScheduled } from './scheduled.ts';
import { restorePostgres } from './to-postgres.ts';

let postgres: Postgres;
let folder: string;
let settings: PostgresSettings;
let count = 0;
beforeAll(async () => {
  postgres = await startPostgres();
});
beforeEach(async () => {
  folder = await temporaryFolder();
  count += 1;
  settings = {
    kind: 'postgres',
    urls: [postgres.url],
    schema: `store_${count}`,
    connections: 8,
    deadline: 10,
  };
});
afterAll(() => postgres[Symbol.asyncDispose]());

const open = (of = settings) => openPostgres(of, { clock, random, log: silentLog, skew: 5 });
const nothing = async () => {};

const TEXTS = [
  '',
  '\0',
  'a\0b',
  '\u0001',
  '\u00010\u00011',
  '😀ä\u2028',
  "';--",
  '\ufeff',
  '\uffff',
  '{1,2}',
  '\\x00',
  'NULL',
];
const NUMBERS = [0n, -1n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];

/** A `state.db` with rows in every table, whose values are at the ends of what their types hold. */
function fullState(path: string): void {
  using database = new DatabaseSync(path, { returnArrays: true, readBigInts: true });
  migrate(database, STATE);
  for (const { name, columns, number } of tablesIn(database)) {
    const insert = database.prepare(
      `INSERT OR IGNORE INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for (const [at, text] of TEXTS.entries()) {
      const row = columns.map(({ name: column, type }) => {
        if (column === number) return BigInt(at) * 2n ** 58n + 1n;
        if (name === 'resource' && column === 'kind') return 'document';
        if (name === 'revocation' && column === 'kind') return 'token';
        if (name === 'revocation' && column === 'generation') return null;
        if (column === 'one') return 1n;
        if (type === 'INTEGER') return NUMBERS[at % NUMBERS.length] ?? 0n;
        if (type === 'BLOB') return Buffer.from(`${text}\0\xff\\x`, 'latin1');
        return `${text}${column === 'kind' ? '' : at}`;
      });
      insert.run(...row);
    }
  }
}

test('every row of every table is the same after a restore into PostgreSQL and a new backup', async () => {
  const staged = join(folder, 'staged');
  mkdirSync(join(staged, 'content'), { recursive: true });
  const before = join(staged, 'state.db');
  fullState(before);
  const rows = rowsIn(before);
  for (const [, all] of rows) expect(all.length).toBeGreaterThan(0);
  expect(
    await restorePostgres(settings, {
      aside: undefined,
      stage: async () => staged,
      place: nothing,
    }),
  ).toBe(false);
  await backupPostgres(settings, folder);
  const after = rowsIn(join(folder, 'state.db'));
  for (const [name, all] of rows) expect([name, after.get(name)]).toEqual([name, all]);
});

test('rows that are added after a restore get higher numbers than all rows of the backup', async () => {
  const staged = join(folder, 'staged');
  mkdirSync(join(staged, 'content'), { recursive: true });
  {
    await using former = await openSqlite({ folder: staged, clock, random });
    for (const id of ['a', 'b', 'c']) await former.revocations.revoke('token', id, FAR);
    await former.tokenKeys.add(someTokenKey(VOPRF, 7), undefined);
    await edit(
      former,
      't',
      puts(someDocument('x', { file: 'x' }), someDocument('y', { file: 'y' })),
    );
    await former.people.add(somePerson('alice'), []);
  }
  await restorePostgres(settings, { aside: undefined, stage: async () => staged, place: nothing });
  await using stores = await open();
  await stores.revocations.epoch(true);
  await stores.revocations.revoke('token', 'd', FAR);
  await stores.tokenKeys.add(someTokenKey(VOPRF, 8), undefined);
  await edit(stores, 't', puts(someDocument('z', { file: 'z' })));
  expect((await stores.trees.below('t', '', 9)).map(({ path }) => path)).toEqual(['x', 'y', 'z']);
  const last = `SELECT max(seq), (SELECT last FROM ${settings.schema}.numbers WHERE name = 'revocation') FROM ${settings.schema}.revocation`;
  expect(await postgres.sql(last)).toBe('4|4');
  expect(await stores.people.getByName('alice')).toMatchObject({ name: 'alice' });
});

test('rows that have no number yet get one in the backup', async () => {
  await using stores = await open();
  await stores.revocations.revoke('token', 'told', FAR);
  await postgres.sql(
    `INSERT INTO ${settings.schema}.revocation (kind, id, until) VALUES ('token', 'waits', ${FAR})`,
  );
  await backupPostgres(settings, folder);
  const rows = rowsIn(join(folder, 'state.db'));
  expect(rows.get('revocation')?.map((row) => row.split('|').slice(0, 3))).toEqual([
    ['bigint 1', 'string token', 'string told'],
    ['bigint 2', 'string token', 'string waits'],
  ]);
});

test('a backup shows one moment, without the epoch and artefacts; a backup that fails leaves no files', async () => {
  await using stores = await open();
  await stores.revocations.epoch(true);
  await stores.artefacts.put({ kind: 'Grant', id: 'g', payload: {}, seconds: 600 });
  await backupPostgres(settings, folder);
  {
    using database = new DatabaseSync(join(folder, 'state.db'), { readOnly: true });
    const kept = 'SELECT (SELECT count(*) FROM epoch) + (SELECT count(*) FROM artefact) AS n';
    expect(database.prepare(kept).get()).toEqual({ n: 0 });
  }
  await expect(backupPostgres(settings, folder)).rejects.toThrow('there already');
  const other = join(folder, 'other');
  await postgres.sql(`UPDATE ${settings.schema}.schema SET version = 2, oldest = 1`);
  await expect(backupPostgres(settings, other)).rejects.toThrow('has version 2');
  await postgres.sql(`UPDATE ${settings.schema}.schema SET version = 1`);
  await postgres.sql(`DROP TABLE ${settings.schema}.tree_lock`);
  await expect(backupPostgres(settings, other)).rejects.toThrow('tree_lock');
  expect(readdirSync(other)).toEqual([]);
});

test('several processes with one schedule make one backup of PostgreSQL, and read it back', async () => {
  await using stores = await open();
  await stores.people.add(somePerson('alice'), []);
  await using one = openBackupThreads(settings);
  await using other = openBackupThreads(settings);
  const schedule = { folder: join(folder, 'daily'), every: 86_400, keep: 2 };
  const data = join(folder, 'data');
  const made = await Promise.all(
    [one, other].map((threads) => makeScheduled({ ...threads, data, settings: schedule, clock })),
  );
  const done = made.filter((each) => each !== undefined);
  expect(done).toHaveLength(1);
  const [{ folder: backup } = { folder: '' }] = done;
  expect(await one.check(backup, undefined)).toEqual([]);
  expect(rowsIn(join(backup, 'state.db')).get('person')).toHaveLength(1);
  await postgres.sql(`DROP TABLE ${settings.schema}.tree_lock`);
  const later = { ...clock, now: () => clock.now() + 86_400_000 };
  await expect(makeScheduled({ ...one, data, settings: schedule, clock: later })).rejects.toThrow(
    'tree_lock',
  );
  expect(readdirSync(schedule.folder).toSorted()).toEqual([basename(backup), 'lock.db']);
});

test('a role that may not create schemas can restore into its empty schema, but cannot replace a schema', async () => {
  const staged = join(folder, 'staged');
  const stage = async () => {
    mkdirSync(join(staged, 'content'), { recursive: true });
    await using former = await openSqlite({ folder: staged, clock, random });
    await former.people.add(somePerson('alice'), []);
    return staged;
  };
  const { schema } = settings;
  await postgres.sql(
    `CREATE ROLE ${schema} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${schema}`,
  );
  const given = { ...settings, urls: [postgres.url.replace('postgres@', `${schema}@`)] };
  await restorePostgres(given, { aside: undefined, stage, place: nothing });
  await expect(restorePostgres(given, { aside: 'aside', stage, place: nothing })).rejects.toThrow(
    'permission denied',
  );
  await using stores = await open(given);
  expect(await stores.people.getByName('alice')).toMatchObject({ name: 'alice' });
});

test('a restore into a PostgreSQL whose disk is full leaves the old rows', async () => {
  const staged = join(folder, 'staged');
  mkdirSync(join(staged, 'content'), { recursive: true });
  {
    await using former = await openSqlite({ folder: staged, clock, random });
    await former.people.add(somePerson('alice'), []);
    for (let n = 0; n < 1200; n += 1) {
      await edit(former, 't', [putWith(`d${n}`, random(16_384), { file: `f${n}` })]);
    }
  }
  await using small = await startPostgres({ disk: 16 });
  const full = { ...settings, urls: [small.url] };
  await using stores = await open(full);
  await stores.people.add(somePerson('bob'), []);
  await stores[Symbol.asyncDispose]();
  await expect(
    restorePostgres(full, { aside: 'aside', stage: async () => staged, place: nothing }),
  ).rejects.toMatchObject({ code: '53100' });
  await using after = await open(full);
  expect(await after.people.getByName('bob')).toMatchObject({ name: 'bob' });
  expect(await after.people.getByName('alice')).toBeUndefined();
  expect(await small.sql(`SELECT count(*) FROM pg_namespace WHERE nspname = 'aside'`)).toBe('0');
});

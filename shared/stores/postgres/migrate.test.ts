import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { Outage } from '../outage/outage.ts';
import { PostgresDatabase } from './database.ts';
import type { PostgresSchema } from './schema.ts';

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

const FIRST = "CREATE TABLE thing (id TEXT PRIMARY KEY) STRICT; INSERT INTO thing VALUES ('row');";
const SECOND = 'ALTER TABLE thing ADD COLUMN n INTEGER NOT NULL DEFAULT 7;';
const one: PostgresSchema = { migrations: [FIRST] };
/** The schemas of two later releases: one changed existing tables, the other only added to them. */
const changed: PostgresSchema = { migrations: [FIRST, SECOND] };
const added: PostgresSchema = { migrations: [FIRST, SECOND], oldest: 1 };

let made = 0;
const newSchema = () => `migrated_${(made += 1)}`;
const open = (schema: string, deadline = 10_000) =>
  new PostgresDatabase({
    urls: [postgres.url],
    schema,
    connections: 2,
    deadline,
    monotonic: () => performance.now(),
    chance: Math.random,
    outage: new Outage('PostgreSQL', silentLog, () => performance.now()),
  });
const versionOf = (schema: string) => postgres.sql(`SELECT version, oldest FROM ${schema}.schema`);

test('only missing migrations are applied, in order, and rows are kept', async () => {
  const schema = newSchema();
  await using database = open(schema);
  await database.migrate(one);
  expect(await versionOf(schema)).toBe('1|1');
  await database.migrate(changed);
  await database.migrate(changed);
  expect(await versionOf(schema)).toBe('2|2');
  expect(await database.read((sql) => sql.all('SELECT id, n FROM thing'))).toEqual([['row', 7]]);
});

test('a migration that fails leaves the schema at its version', async () => {
  const schema = newSchema();
  await using database = open(schema);
  await database.migrate(one);
  const failing = { migrations: [FIRST, `${SECOND} CREATE TABLE thing (id TEXT) STRICT;`] };
  await expect(database.migrate(failing)).rejects.toThrow('already exists');
  expect(await versionOf(schema)).toBe('1|1');
  await database.migrate(changed);
});

test.each(['thing (id text)', 'schema (name text)'])(
  'a schema in which another program has the table %s is not changed, and the error says what to do',
  async (table) => {
    const schema = newSchema();
    await postgres.sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.${table}`);
    await using database = open(schema);
    await expect(database.migrate(one)).rejects.toThrow(
      `the schema ${schema} has tables of another program`,
    );
    const tables = `SELECT count(*) FROM pg_tables WHERE schemaname = '${schema}'`;
    expect(await postgres.sql(tables)).toBe('1');
  },
);

test('an older release refuses a schema that it does not know, changes nothing, and says what to do', async () => {
  const schema = newSchema();
  await using database = open(schema);
  await database.migrate(changed);
  await expect(database.migrate(one)).rejects.toThrow(
    `the schema ${schema} has version 2, made by a newer release; this one knows versions up to 1, and the schema needs 2. Start the newer release`,
  );
  expect(await versionOf(schema)).toBe('2|2');
});

test('an older release works with a schema to which a newer release has only added', async () => {
  const schema = newSchema();
  await using older = open(schema);
  await older.migrate(one);
  await using newer = open(schema);
  await newer.migrate(added);
  await older.migrate(one);
  await older.write((sql) => sql.run("INSERT INTO thing (id) VALUES ('of the older one')"));
  await older.ping('all');
  expect(await versionOf(schema)).toBe('2|1');
  expect(await postgres.sql(`SELECT count(*) FROM ${schema}.thing`)).toBe('2');
});

test('if processes of two releases start at the same time on an empty database, all work, and each migration is applied once', async () => {
  const schema = newSchema();
  const databases = Array.from({ length: 6 }, () => open(schema));
  await Promise.all(databases.map((database, n) => database.migrate(n % 2 === 0 ? added : one)));
  for (const database of databases) await database[Symbol.asyncDispose]();
  expect(await versionOf(schema)).toBe('2|1');
  expect(await postgres.sql(`SELECT id, n FROM ${schema}.thing`)).toBe('row|7');
});

test('a migration may take longer than the deadline, and a process that starts meanwhile waits for it', async () => {
  const schema = newSchema();
  await using database = open(schema, 2000);
  await using other = open(schema, 2000);
  const slow = { migrations: [`${FIRST} SELECT pg_sleep(3);`] };
  await Promise.all([database.migrate(slow), other.migrate(slow)]);
  expect(await versionOf(schema)).toBe('1|1');
  // The migration's connection has its usual deadline again for later statements.
  await expect(database.read((sql) => sql.all('SELECT pg_sleep(3)'))).rejects.toThrow('PostgreSQL');
});

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ClientBase, escapeIdentifier } from 'pg';
import { systemClock } from '#shared/base/clock.ts';
import { alone } from '../postgres/alone.ts';
import { LONGEST_CONTENT, SCHEMA } from '../postgres/open.ts';
import { markRestored } from '../postgres/recovered.ts';
import { makeSchema, migrateWithin } from '../postgres/schema.ts';
import { isNumbered, toServer } from '../postgres/text.ts';
import type { PostgresSettings } from '../settings.ts';
import type { Value } from '../sql/sql.ts';
import { type Table, tablesIn } from '../sqlite/backup/tables.ts';
import { STATE } from '../sqlite/schema/state.ts';
import { IN_FILES } from './copy-content.ts';
import { folderOf } from '../trees/tree-folder.ts';

type CopiedValue = Value | bigint;
type CopiedRow = readonly CopiedValue[];

/** Most rows of one statement, and the octets after which a statement gets no more rows. */
const TOGETHER = 100;
const OCTETS = 2 ** 20;

/** A store exists, and the operator has not asked to replace it. */
export class StoreExists extends Error {}

export interface ToPostgres {
  /** The new name of the former schema; undefined: a former store must not exist. */
  readonly aside: string | undefined;
  /**
   * Called when no other process has the store open. Resolves to a folder with the backup; the folder is removed later.
   */
  readonly stage: () => Promise<string>;
  /** Called before the commit: moves the remaining content of the folder into its place. */
  readonly place: (wasThere: boolean) => Promise<void>;
}

/**
 * Replaces a store in PostgreSQL by a backup in one transaction, while no other process has the store open. Files whose
 * content PostgreSQL keeps in rows become rows. Resolves to whether a store existed. Rejects with `StoreExists`,
 * `OpenElsewhere`, or an error of `pg` or of a step, and then changes nothing.
 */
export const restorePostgres = (
  settings: PostgresSettings,
  { aside, stage, place }: ToPostgres,
): Promise<boolean> =>
  alone(settings, async (client) => {
    const { schema } = settings;
    const isThere = await isUsed(client, schema);
    if (isThere && aside === undefined) {
      throw new StoreExists(`there is a store in the schema ${schema} already`);
    }
    const staged = await stage();
    try {
      if (isThere) {
        await client.query(
          `ALTER SCHEMA ${escapeIdentifier(schema)} RENAME TO ${escapeIdentifier(aside ?? '')}`,
        );
      }
      await makeSchema(client, schema);
      await migrateWithin(client, schema, SCHEMA);
      // Redis knows the id of the former store, so the new schema keeps the id, and the used values.
      if (isThere) {
        const former = escapeIdentifier(aside ?? '');
        await client.query(
          `UPDATE record SET id = former.id, redis = former.redis FROM ${former}.record AS former;
           INSERT INTO replay SELECT * FROM ${former}.replay`,
        );
      }
      await markRestored(client, systemClock);
      await load(client, staged);
      await place(isThere);
    } finally {
      // No other process restores before the end.
      await rm(staged, { recursive: true });
    }
    return isThere;
  });

/** Whether a store in that schema has data: a store that was only opened has no rows in these tables. */
async function isUsed(client: ClientBase, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables
     WHERE schemaname = $1 AND tablename NOT IN ('schema', 'numbers', 'record', 'redis_run')`,
    [schema],
  );
  for (const { name } of rows) {
    const table = `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
    if ((await client.query(`SELECT FROM ${table} LIMIT 1`)).rowCount !== 0) return true;
  }
  return false;
}

async function load(client: ClientBase, staged: string): Promise<void> {
  using database = new DatabaseSync(join(staged, STATE.file), {
    readOnly: true,
    returnArrays: true,
    readBigInts: true,
  });
  const rowsOf = <R extends CopiedRow>(text: string, ...values: readonly bigint[]) =>
    database.prepare(text).iterate(...values) as unknown as Iterable<R>;
  const tables = tablesIn(database);
  for (const table of tables) {
    const columns = table.columns.map(({ name }) => name).join(', ');
    const order = table.number === undefined ? '' : ` ORDER BY ${table.number}`;
    await addRows(client, table, rowsOf(`SELECT ${columns} FROM ${table.name}${order}`));
  }
  const content = tables.find(({ name }) => name === 'content');
  if (content === undefined) throw new Error(`${STATE.file} has no table for content`);
  for (const [tree, file] of rowsOf<[string, string]>(SHORT_FILES, BigInt(LONGEST_CONTENT))) {
    const path = join(staged, 'content', folderOf(tree), file);
    const bytes = await readFile(path).catch(undefinedIfMissing);
    if (bytes === undefined) continue;
    await addRows(client, content, [[tree, file, bytes]]);
    await rm(path);
  }
  await goOnBehind(client, tables, [...rowsOf('SELECT name, seq FROM sqlite_sequence')]);
  await client.query(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`);
}

/** In SQL: files whose content would be a row in PostgreSQL. */
const SHORT_FILES = `SELECT DISTINCT tree, file FROM resource
  WHERE length <= ? AND ${IN_FILES}`;

/** The check of the backup has reported the missing file. */
function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Adds rows to a table of the uncommitted schema. */
async function addRows(
  client: ClientBase,
  { name, columns }: Table,
  rows: Iterable<CopiedRow>,
): Promise<void> {
  const names = columns.map((column) => column.name).join(', ');
  let values: CopiedValue[] = [];
  let octets = 0;
  async function flush(): Promise<void> {
    if (values.length === 0) return;
    const places = values.map((_, at) => `$${at + 1}`);
    const tuples = Array.from(
      { length: values.length / columns.length },
      (_, row) => `(${places.slice(row * columns.length, (row + 1) * columns.length).join(', ')})`,
    );
    await client.query(`INSERT INTO ${name} (${names}) VALUES ${tuples.join(', ')}`, values);
    values = [];
    octets = 0;
  }
  for (const row of rows) {
    for (const value of row) {
      values.push(typeof value === 'bigint' ? String(value) : toServer(value));
      octets += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
    }
    if (values.length === TOGETHER * columns.length || octets >= OCTETS) await flush();
  }
  await flush();
}

/** Makes the next numbers higher than all of the backup. `last`: the last numbers of the tables in `NUMBERED`. */
async function goOnBehind(
  client: ClientBase,
  tables: readonly Table[],
  last: readonly CopiedRow[],
): Promise<void> {
  for (const [name, number] of last) {
    await client.query('UPDATE numbers SET last = $1 WHERE name = $2', [String(number), name]);
  }
  for (const { name, number } of tables) {
    if (isNumbered(name) || number === undefined) continue;
    await client.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), max(${number})) FROM ${name} HAVING max(${number}) > 0`,
      [name, number],
    );
  }
}

import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { wholeSnapshot } from '../postgres/snapshot.ts';
import { isNumbered, NUMBERED } from '../postgres/text.ts';
import type { PostgresSettings } from '../settings.ts';
import type { Sql, Value } from '../sql/sql.ts';
import { type Table, tablesIn } from '../sqlite/backup/tables.ts';
import { migrate } from '../sqlite/file/migrate.ts';
import { syncPath } from '../sqlite/file/sync-path.ts';
import { STATE } from '../sqlite/schema/state.ts';

/** Rows that are read at once; fewer of `content`, whose rows may be long. */
const PAGE = 500;
const PAGE_OF_CONTENT = 4;
/**
 * Writes the rows of PostgreSQL at one moment to a new `state.db` in `folder`, while servers run: the same tables as
 * `backupSqlite`. Only the rows of one page are in memory. Rejects with `StoreUnavailable`, and then leaves nothing.
 */
export async function backupPostgres(settings: PostgresSettings, folder: string): Promise<void> {
  const target = join(folder, STATE.file);
  const partial = `${target}.partial`;
  makeFolder(folder);
  if (existsSync(target)) throw new StoreUnavailable(`${target} is there already`);
  closeSync(openSync(partial, 'wx', 0o600));
  try {
    await wholeSnapshot(settings, (sql) => write(sql, partial));
    syncPath(partial);
    linkSync(partial, target);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable(`${target}: ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(partial, { force: true });
  }
  syncPath(folder);
}

async function write(sql: Sql, path: string): Promise<void> {
  using database = new DatabaseSync(path, { returnArrays: true, readBigInts: true });
  // A failed backup is removed, so the file needs no sync before its end.
  database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
  migrate(database, STATE);
  database.exec('BEGIN');
  const numbers = database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  const last = 'SELECT name, CAST(last AS text) FROM numbers WHERE last > 0';
  for (const [table, number] of await sql.all<[string, string]>(last)) {
    numbers.run(table, BigInt(number));
  }
  for (const table of tablesIn(database)) {
    const columns = table.columns.map(({ name }) => name);
    const insert = database.prepare(
      `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    for await (const rows of pagesOf(sql, table)) {
      for (const row of rows) insert.run(...(row as readonly SQLInputValue[]));
    }
  }
  database.exec('COMMIT');
}

/** Reads the rows of a table within a snapshot, page by page. Integers of any size stay exact. */
async function* pagesOf(
  sql: Sql,
  { name, columns }: Table,
): AsyncGenerator<readonly (readonly (Value | bigint)[])[]> {
  const read = columns.map(({ name: column, type }) =>
    type === 'INTEGER' ? `CAST(${column} AS text)` : column,
  );
  // Rows that wait for their number come last.
  const order = isNumbered(name) ? ` ORDER BY ${NUMBERED[name]} NULLS LAST, row` : '';
  await sql.run(
    `DECLARE ${name}_rows NO SCROLL CURSOR FOR SELECT ${read.join(', ')} FROM ${name}${order}`,
  );
  const page = `FETCH ${name === 'content' ? PAGE_OF_CONTENT : PAGE} FROM ${name}_rows`;
  for (;;) {
    const rows = await sql.all<Value[]>(page);
    if (rows.length === 0) break;
    yield rows.map((row) =>
      row.map((value, at) =>
        columns[at]?.type === 'INTEGER' && value !== null ? BigInt(String(value)) : value,
      ),
    );
  }
  await sql.run(`CLOSE ${name}_rows`);
}

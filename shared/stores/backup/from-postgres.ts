import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { makeFolder } from '#shared/base/make-folder.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { lastNumbers, pagesOf } from '../postgres/tables.ts';
import { wholeSnapshot } from '../postgres/snapshot.ts';
import type { PostgresSettings } from '../settings.ts';
import type { Sql } from '../sql/sql.ts';
import { tablesIn } from '../sqlite/backup/tables.ts';
import { migrate } from '../sqlite/file/migrate.ts';
import { syncPath } from '../sqlite/file/sync-path.ts';
import { STATE } from '../sqlite/schema/state.ts';

/**
 * Writes what a store in PostgreSQL has at one moment to a new `state.db` in `folder`, while servers run: the same tables as
 * `backupSqlite`, and as few. Nothing of it is in memory but the rows that are read at once. Rejects with
 * `StoreUnavailable`, and leaves nothing then.
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
  // A file that is not whole is removed: nothing of it needs to be synced before its end.
  database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
  migrate(database, STATE);
  database.exec('BEGIN');
  const numbers = database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  for (const [table, last] of await lastNumbers(sql)) numbers.run(table, last);
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

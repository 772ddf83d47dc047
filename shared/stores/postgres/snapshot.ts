import { readFile } from 'node:fs/promises';
import { silentLog } from '#shared/base/log.ts';
import { Outage } from '../outage/outage.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { PostgresSettings } from '../settings.ts';
import type { Sql } from '../sql/sql.ts';
import { PostgresDatabase } from './database.ts';
import { SCHEMA } from './open.ts';

/** Milliseconds for one page. */
const PATIENCE = 60_000;

/** Reads a whole store at one moment. Rejects with `StoreUnavailable`, also if a newer release has made the tables. */
export async function wholeSnapshot<T>(
  { urls, ca: file, schema }: PostgresSettings,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const monotonic = () => performance.now();
  await using database = new PostgresDatabase({
    urls,
    ca: file === undefined ? undefined : await readFile(file, 'utf8'),
    schema,
    connections: 1,
    deadline: PATIENCE,
    monotonic,
    chance: Math.random,
    outage: new Outage('PostgreSQL', silentLog, monotonic),
  });
  return await database.snapshot(async (sql) => {
    const [[version] = [0]] = await sql.all<[number]>('SELECT version FROM schema');
    if (version === SCHEMA.migrations.length) return work(sql);
    throw new StoreUnavailable(
      `the schema ${schema} has version ${version}, and this release makes backups of version ${SCHEMA.migrations.length}: take the release of the servers`,
    );
  });
}

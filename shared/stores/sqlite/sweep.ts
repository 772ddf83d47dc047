import type { Clock } from '#shared/clock.ts';
import type { SqliteFile } from './file.ts';

/** Rows of a table that go in one transaction, so that no request waits long for a sweep. */
const BATCH = 200;

/** Deletes up to 200 expired rows of each table; resolves to their number. Repeat until it is 0. */
export async function sweepFile(file: SqliteFile, clock: Clock): Promise<number> {
  let swept = 0;
  for (const [table, { key, when }] of Object.entries(file.schema.expired)) {
    swept += await file.write((connection) =>
      connection.run(
        `DELETE FROM ${table}
         WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${when} LIMIT ${BATCH})`,
        clock.now(),
      ),
    );
  }
  return swept;
}

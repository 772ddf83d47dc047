import type { Clock } from '#shared/base/clock.ts';
import { PASSING_EXPIRED, STATE_EXPIRED } from '../sql/expired.ts';
import type { Database } from '../sql/sql.ts';

/** Rows of a table that go in one transaction. */
const BATCH = 400;

/** Deletes the expired rows of all tables, one process at a time; resolves to their number. */
export async function sweep(database: Database, clock: Clock): Promise<number> {
  let swept = 0;
  for (const [table, { key, when }] of Object.entries({ ...STATE_EXPIRED, ...PASSING_EXPIRED })) {
    const text = `DELETE FROM ${table}
      WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${when} LIMIT ${BATCH})`;
    for (let rows = BATCH; rows === BATCH; swept += rows) {
      rows = await database.write(async (sql) => {
        await sql.lockNames(['sweep']);
        return sql.run(text, Math.floor(clock.now()));
      });
    }
  }
  return swept;
}

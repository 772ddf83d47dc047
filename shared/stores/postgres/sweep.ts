import { PASSING_EXPIRED, STATE_EXPIRED } from '../sql/expired.ts';
import type { Database } from '../sql/sql.ts';

/** Rows of a table that go in one transaction. */
const BATCH = 400;

const TURN = 'SELECT pg_try_advisory_xact_lock(CAST(? AS BIGINT))';

/** A database, its tables with rows that expire, and the time by which they have. */
type Swept = readonly [database: Database, expired: typeof STATE_EXPIRED, now: number];

/**
 * Deletes the expired rows of all tables; resolves to their number. `turn`: the key of a lock; `own`, `server`: now, by the clock
 * of this process and of the server. Of several processes one does it: each transaction takes
 * the turn, and one that does not get it leaves the rest to the other. The turn ends with its connection.
 */
export async function sweep(
  record: Database,
  passing: Database,
  { turn, own, server }: { readonly turn: string; readonly own: number; readonly server: number },
): Promise<number> {
  const all: readonly Swept[] = [
    // Callers say until when a row lives, by their clocks: no clock that is ahead ends it.
    [record, STATE_EXPIRED, Math.min(own, server)],
    [passing, PASSING_EXPIRED, server],
  ];
  let swept = 0;
  for (const [database, expired, now] of all) {
    for (const [table, { key, when, isInOrder }] of Object.entries(expired)) {
      // A row that somebody works on waits for the next sweep, unless a later one may not go before it.
      const which = isInOrder
        ? `ORDER BY ${key} LIMIT ${BATCH} FOR UPDATE`
        : `LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
      const text = `DELETE FROM ${table}
        WHERE ${key} = ANY (ARRAY(SELECT ${key} FROM ${table} WHERE ${when} ${which}))`;
      for (let rows = BATCH; rows === BATCH; swept += rows) {
        const gone = await database.write(async (sql) => {
          const [[isOurs] = []] = await sql.all<['t' | 'f']>(TURN, turn);
          return isOurs === 't' ? sql.run(text, Math.floor(now)) : undefined;
        });
        if (gone === undefined) return swept;
        rows = gone;
      }
    }
  }
  return swept;
}

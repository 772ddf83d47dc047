import { PASSING_EXPIRED, STATE_EXPIRED } from '../sql/expired.ts';
import type { Database } from '../sql/sql.ts';

/** Rows of one transaction. */
const BATCH = 400;

const TURN = 'SELECT pg_try_advisory_xact_lock(CAST(? AS BIGINT))';

/** A database, its tables with rows that expire, and the present time of their clock. */
type Swept = readonly [database: Database, expired: typeof STATE_EXPIRED, now: number];

/**
 * Deletes the expired rows of all tables. Resolves to their number. `turn`: the key of a lock; `own`, `server`: the
 * time by our clock and by the server's. One process sweeps: each transaction tries to get the lock, and a process that
 * does not get it stops. The lock ends with the transaction.
 */
export async function sweep(
  record: Database,
  passing: Database,
  { turn, own, server }: { readonly turn: string; readonly own: number; readonly server: number },
): Promise<number> {
  const all: readonly Swept[] = [
    // Callers set these times by their clocks. So no clock that is ahead may end a row.
    [record, STATE_EXPIRED, Math.min(own, server)],
    [passing, PASSING_EXPIRED, server],
  ];
  let swept = 0;
  for (const [database, expired, now] of all) {
    for (const [table, { key, when, isInOrder }] of Object.entries(expired)) {
      // Skips locked rows until the next sweep, unless rows must be deleted in order.
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

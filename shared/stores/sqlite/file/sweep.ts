import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import type { SqliteFile } from './file.ts';

/** Rows of one transaction: the first time, and at most. */
const BATCH = { first: 100, most: 400 };
/** Milliseconds of a batch: after a faster one, the next batch is twice as large. */
const LONGEST = 4;
/** The rest after a batch: a multiple of its time, and milliseconds at most. */
const REST = { share: 2, most: 50 };

/** Deletes the expired rows of all tables. Resolves to their number. Others have a turn after each batch. */
export async function sweepFile(
  file: SqliteFile,
  clock: Clock,
  steady: () => boolean,
): Promise<number> {
  let swept = 0;
  for (const [table, { key, when }] of Object.entries(file.schema.expired)) {
    const sql = `DELETE FROM ${table}
      WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${when} LIMIT ?2)`;
    let batch = BATCH.first;
    for (;;) {
      if (!steady()) return swept;
      const began = clock.monotonic();
      const asked = batch;
      const { rows, took } = await file.write(
        (connection) => {
          const begun = clock.monotonic();
          const gone = connection.run(sql, clock.now(), asked);
          return { rows: gone, took: clock.monotonic() - begun };
        },
        { makesRoom: true },
      );
      swept += rows;
      await sleep(Math.min(REST.share * (clock.monotonic() - began), REST.most));
      if (rows < asked) break;
      batch = took > LONGEST ? Math.max(BATCH.first, asked / 2) : Math.min(2 * asked, BATCH.most);
    }
  }
  return swept;
}

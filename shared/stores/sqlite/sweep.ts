import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import type { SqliteFile } from './file.ts';

/** Rows of a table that go in one transaction: some milliseconds, with what it writes to the disk. */
const BATCH = 100;
/** How many times as long as a batch takes the others have their turn after it. */
const REST = 2;

/**
 * Deletes the expired rows of all tables; resolves to their number. Between two batches requests and
 * other processes have their turn.
 */
export async function sweepFile(
  file: SqliteFile,
  clock: Clock,
  steady: () => boolean,
): Promise<number> {
  let swept = 0;
  for (const [table, { key, when }] of Object.entries(file.schema.expired)) {
    let rows: number;
    do {
      if (!steady()) return swept;
      const began = clock.monotonic();
      rows = await file.write((connection) =>
        connection.run(
          `DELETE FROM ${table}
           WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${when} LIMIT ${BATCH})`,
          clock.now(),
        ),
      );
      swept += rows;
      await sleep(REST * (clock.monotonic() - began));
    } while (rows === BATCH);
  }
  return swept;
}

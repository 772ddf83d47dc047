import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { StoreUnderTest } from '../contract/store-under-test.ts';
import { openSqlite } from './open.ts';
import { STATE, TRANSIENT } from './schema/state.ts';

export interface SqliteUnderTest extends StoreUnderTest {
  readonly clock: ManualClock;
  readonly folder: string;
  readonly statePath: string;
}

/**
 * Moves `source` into the place of state.db, as an operator restores a backup: from outside, so that
 * whatever is asked after it is asked in another turn of the event loop.
 */
export async function restore(source: string, statePath: string): Promise<void> {
  for (const end of ['-wal', '-shm', '.mark']) rmSync(statePath + end, { force: true });
  renameSync(source, statePath);
  await turn();
}

/** An embedded store in a new folder, on a clock that the test moves. */
export async function sqliteUnderTest(): Promise<SqliteUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-sqlite-'));
  const data = join(folder, 'data');
  const statePath = join(data, STATE.file);
  const clock = new ManualClock();
  const openIn = (where: string) => openSqlite({ folder: where, clock, random: systemRandom });
  return {
    clock,
    folder,
    statePath,
    spec: () => ({
      store: { kind: 'sqlite' },
      data,
      revocations: { lease: 0.2 },
      tokens: { skew: 5 },
      now: clock.now(),
      longestLife: 605,
    }),
    open: () => openIn(data),
    countAll: async () => {
      let count = 0;
      for (const { file } of [STATE, TRANSIENT]) {
        using database = new DatabaseSync(join(data, file), { readOnly: true });
        for (const { name } of database
          // Each store has rows for its version, its count of commits and its reserve for a full disk.
          .prepare(
            `SELECT name FROM sqlite_schema WHERE type = ? AND name NOT IN ('schema', 'tally', 'room')`,
          )
          .all('table')) {
          const row = database.prepare(`SELECT count(*) AS n FROM ${String(name)}`).get();
          count += Number(row?.['n']);
        }
      }
      return count;
    },
    passSeconds: async (seconds) => clock.advance(seconds),
    forget: async () => {
      const empty = join(folder, 'empty');
      await (await openIn(empty))[Symbol.asyncDispose]();
      await restore(join(empty, STATE.file), statePath);
      rmSync(empty, { recursive: true });
      clock.advance(2);
    },
    end: async () => rmSync(folder, { recursive: true }),
  };
}

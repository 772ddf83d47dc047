import type { ToldRecord, ToldRow } from '../redis/told/told.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Database } from '../sql/sql.ts';
import { BEAT } from './commit.ts';
import type { PostgresSettings } from '../settings.ts';
import { rowsBehind } from '../revocation/followed.ts';
import { alone } from './alone.ts';
import type { Rewinding } from './rewinding.ts';

/**
 * In SQL: the id of the store, the place in Redis for all its servers (empty: no Redis; null: not opened yet), when it
 * was restored, in milliseconds, and the runs of Redis that were current, in order.
 */
export const RECORD = `
  CREATE TABLE record (
    one bigint PRIMARY KEY CHECK (one = 1),
    id text NOT NULL DEFAULT gen_random_uuid(),
    redis text,
    restored bigint NOT NULL DEFAULT 0
  );
  INSERT INTO record (one) VALUES (1);
  CREATE TABLE redis_run (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL UNIQUE
  );`;

const RUN = 'SELECT run FROM redis_run ORDER BY place DESC LIMIT 1';

/** Remembered runs. A forgotten run was replaced so often that its server can only begin again. */
const RUNS = 1_000;

/** PostgreSQL as Redis needs it. */
export const toldRecord = (database: Database, rewinding: Rewinding): ToldRecord => ({
  forgotten: (epoch) => rewinding.check(epoch, true),
  async claim(run, from) {
    await database.write(async (sql) => {
      await sql.lockNames(['redis run']);
      await sql.all(BEAT);
      const [[told] = []] = await sql.all<[string]>(RUN);
      if (told !== run) {
        if (from === told) await sql.run('DELETE FROM redis_run WHERE run = ?', run);
        const text = 'INSERT INTO redis_run (run) VALUES (?) ON CONFLICT DO NOTHING';
        const isNew = await sql.run(text, run);
        if (isNew === 0) {
          throw new StoreUnavailable(
            'another server has taken the place of this Redis: name that one in store.redis.urls, or restart this one',
          );
        }
        await sql.run(
          `DELETE FROM redis_run WHERE place <= (SELECT place FROM redis_run ORDER BY place DESC LIMIT 1 OFFSET ${RUNS})`,
        );
      }
    });
    // Read after the commit: a process that still tells another run sees this run now, or has committed before.
    return database.read(async (sql) => {
      const [found] = await sql.all<[string | null, number, number, number]>(
        'SELECT (SELECT id FROM epoch), LAST(revocation, seq), LAST(invalidation, seq), (SELECT count(*) FROM redis_run)',
      );
      const [epoch, revocation, invalidation, runs] = found ?? [null, 0, 0, 0];
      return { epoch: epoch ?? '', lasts: { revocation, invalidation }, isFirst: runs === 1 };
    });
  },
  state: () =>
    database.read(async (sql) => {
      const [found] = await sql.all<[string, string | null, number, number]>(
        `SELECT id, (${RUN}), LAST(revocation, seq), LAST(invalidation, seq) FROM record`,
      );
      const [id, run, revocation, invalidation] = found ?? ['', null, 0, 0];
      return { id, run: run ?? undefined, lasts: { revocation, invalidation } };
    }),
  behind: (table, seq, most) =>
    database.snapshot(async (sql) => {
      const [[last] = [0]] = await sql.all<[number]>(`SELECT LAST(${table}, seq)`);
      return { last, rows: await sql.all<ToldRow>(rowsBehind(table, '?'), seq, most) };
    }),
});

/** Returns where servers are told: the prefix, and the database of a Redis with several databases. */
function placeIn({ redis }: PostgresSettings): string {
  if (redis === undefined) return '';
  const database = new URL(redis.urls[0] ?? '').pathname.slice(1);
  return database === '' || database === '0' ? redis.prefix : `${redis.prefix}/${database}`;
}

/** The store in PostgreSQL as a server finds it. */
export interface Shared {
  /** True if no server has opened the store, nor the store whose backup it is. */
  readonly isNew: boolean;
  /** When PostgreSQL was restored, in milliseconds; 0: never. */
  readonly restored: number;
}

/** Rejects unless this server uses the same Redis as all servers of the store. They would miss its revocations. */
export async function demandRedis(record: Database, settings: PostgresSettings): Promise<Shared> {
  const mine = placeIn(settings);
  const [decided, theirs = '', restored = 0] = await record.write(async (sql) => {
    const changed = await sql.run('UPDATE record SET redis = ? WHERE redis IS NULL', mine);
    const [found = []] = await sql.all<[string, number]>('SELECT redis, restored FROM record');
    return [changed, ...found];
  });
  if (theirs === mine) return { isNew: decided === 1 && restored === 0, restored };
  throw new Error(
    `${differenceOf(mine, theirs)}, or stop all servers and run countersign redis change`,
  );
}

function differenceOf(mine: string, theirs: string): string {
  if (theirs === '') {
    return 'the servers of this store do not use Redis, and store.redis is set: remove it';
  }
  if (mine === '') return 'the servers of this store use Redis, and store.redis is missing: set it';
  return `the servers of this store are told by Redis under ${theirs}, and this one would look under ${mine}: set the same store.redis.prefix, and the same database in the URL`;
}

/** Changes whether all servers of a store use Redis. Rejects with the reason, such as a server that runs. */
export async function changeRedis(settings: PostgresSettings): Promise<void> {
  await alone(settings, (client) =>
    client.query('UPDATE record SET redis = $1', [placeIn(settings)]),
  );
}

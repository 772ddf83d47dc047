import { readFile } from 'node:fs/promises';
import type { Clock } from '#shared/base/clock.ts';
import { type Log, silentLog } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { portion } from '#shared/base/workers.ts';
import { Outage } from '../outage/outage.ts';
import { type Engine, heldStores, sqlParts } from '../sql/parts.ts';
import type { Database } from '../sql/sql.ts';
import { PASSING_TABLES, STATE_TABLES } from '../sql/tables.ts';
import type { Beside } from '../redis/open.ts';
import type { PostgresSettings } from '../settings.ts';
import { since } from '../authentication/since.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Stores } from '../stores.ts';
import { lockOf } from './access.ts';
import { checkServer } from './check-server.ts';
import { PostgresDatabase } from './database.ts';
import { openFeed, openInvalidationFeed, SILENCE } from './feeds.ts';
import type { FollowOptions } from './followed-table.ts';
import { Rewinding } from './rewinding.ts';
import { ServerClock, timeOf } from './server-clock.ts';
import { sweep } from './sweep.ts';
import { demandRedis, RECORD, toldRecord } from './told.ts';
import { NUMBERS, type PostgresSchema } from './schema.ts';
import { Timelines } from './timelines.ts';

export const SCHEMA: PostgresSchema = {
  migrations: [STATE_TABLES + PASSING_TABLES + NUMBERS + RECORD],
};

/** Connections of the feeds, so that no verdict waits for writes. */
const OF_FEEDS = 2;

/** Least milliseconds for an answer at the start, when no client waits for us. */
const PATIENCE = 10_000;

/** Bytes of the longest content in a row. Longer content is in files, which all machines must share. */
export const LONGEST_CONTENT = 64 * 1024;

/** Whether a missing store is made; `first`: only if the database has no other store. */
export type Creates = boolean | 'first';

export interface PostgresDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Called with the reason when the store must be opened again. */
  readonly moved?: ((reason: string) => void) | undefined;
  /** Whether a missing store is made. Default: true. */
  readonly creates?: Creates | undefined;
  /** Seconds by which the clocks of our servers may differ. */
  readonly skew: number;
  /** Resolves to the server's time in milliseconds since 1970. */
  readonly serverTime?: (database: Database) => Promise<number>;
}

/**
 * Opens the store in PostgreSQL. Rejects with the reason, and with `StoreUnavailable` if PostgreSQL does not answer.
 */
export async function openPostgres(
  settings: PostgresSettings,
  dependencies: PostgresDependencies,
): Promise<Stores> {
  const { clock, random, log, moved, skew, creates = true, serverTime = timeOf } = dependencies;
  const { urls, schema, connections: most, deadline, ca: file, redis } = settings;
  const ca = file === undefined ? undefined : await readFile(file, 'utf8');
  const options = {
    urls,
    ca,
    schema,
    timelines: new Timelines(),
    monotonic: () => clock.monotonic(),
    chance: () => random(1).readUInt8() / 256,
  };
  const failing = (told: Log) => new Outage('PostgreSQL', told, options.monotonic);
  await using first = new PostgresDatabase({
    ...options,
    connections: 1,
    deadline: Math.max(PATIENCE, 1000 * deadline),
    // The start reports its own failure.
    outage: failing(silentLog),
  });
  await first.look(1000 * deadline);
  await checkServer(first, settings, log);
  if (creates !== true) await demandStore(first, schema, creates);
  await first.migrate(SCHEMA);
  const shared = await demandRedis(first, settings);
  // The restore is over, so a clock that was ahead then causes only a short wait.
  const restored = Math.min(shared.restored, clock.now());
  const outage = failing(log);
  let beside: Beside | undefined;
  const databaseOf = (connections: number) =>
    new PostgresDatabase({
      ...options,
      connections,
      deadline: 1000 * deadline,
      outage,
      tell: async (table) => {
        if (table === 'revocation' || table === 'invalidation') await beside?.told.tell(table);
      },
    });
  await using parts = new AsyncDisposableStack();
  const record = parts.use(databaseOf(portion(most) - OF_FEEDS));
  const followed = parts.use(databaseOf(OF_FEEDS));
  const sharedClock = new ServerClock(clock, () => serverTime(record));
  await sharedClock.look();
  const rewinding = new Rewinding(record);
  if (redis !== undefined) {
    const { openBeside } = await import('../redis/open.ts');
    const told = toldRecord(followed, rewinding);
    beside = parts.use(await openBeside(redis, told, { ...dependencies, ...shared, restored }));
  }
  const following: FollowOptions = {
    database: followed,
    clock,
    rewinding,
    told: beside?.told,
    silence: 1000 * (redis ?? settings).deadline + SILENCE,
  };
  const engine: Engine = {
    record,
    passing: record.passing,
    // Not `passing`, whose commits wait for no standby: after a promotion a proof would be accepted again.
    once: record,
    clock,
    sharedClock,
    random,
    longestContent: LONGEST_CONTENT,
    revocations: {
      feed: () => openFeed(following),
      async untilKnown() {
        await record.numberAll(['revocation']);
        // A durable commit makes all earlier commits durable, whichever server is the next primary.
        await record.confirm();
      },
    },
    invalidationFeed: (listener, from) => openInvalidationFeed(following, listener, from),
  };
  const owned = parts.move();
  const inSql = sqlParts(engine);
  const stores: Stores = {
    ...inSql,
    ...since(inSql, { clock, restored, skew }),
    ...beside?.parts,
    together: (work) =>
      record.together((held) => work(heldStores(stores, held, { ...engine, passing: held }))),
    async ping(need = 'all') {
      await record.ping(need);
      await demandVersion(record, moved);
      await beside?.ping(need);
    },
    check: () => record.check(),
    async sweep() {
      await record.numberAll();
      await sharedClock.look();
      const times = { own: clock.now(), server: sharedClock.now() };
      return sweep(record, record.passing, { turn: lockOf(schema, 'sweep'), ...times });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  return stores;
}

/** In SQL: the schemas with a store. */
const STORES = `SELECT string_agg(nspname, ', ' ORDER BY nspname)
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relname = 'redis_run'`;

/** With a wrong name of the schema, a command or server would work on a new store that no other server knows. */
async function demandStore(
  first: Database,
  schema: string,
  creates: Exclude<Creates, true>,
): Promise<void> {
  const [[found, others] = [null, null]] = await first.read((sql) =>
    sql.all<[string | null, string | null]>(
      `SELECT CAST(to_regclass(?) AS text), (${STORES})`,
      `${schema}.schema`,
    ),
  );
  if (found !== null || (creates === 'first' && others === null)) return;
  const known = others === null ? '' : ` (this database has stores in: ${others})`;
  throw new Error(
    creates === 'first'
      ? `there is no store in the schema ${schema} of PostgreSQL${known}: name the right one in store.schema. Another store is made by countersign config check --store --create`
      : `there is no store in the schema ${schema} of PostgreSQL${known}: start the pair, or name its schema in store.schema. A new one is made only with --create`,
  );
}

/** Rejects if a newer version has changed the tables incompatibly. */
async function demandVersion(
  record: Database,
  moved: PostgresDependencies['moved'],
): Promise<void> {
  const [[oldest] = [0]] = await record.read((sql) =>
    sql.all<[number]>('SELECT oldest FROM schema'),
  );
  if (oldest <= SCHEMA.migrations.length) return;
  const reason = 'a newer version has changed the tables in PostgreSQL: start the newer version';
  moved?.(reason);
  throw new StoreUnavailable(reason);
}

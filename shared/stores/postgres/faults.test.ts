import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRelay } from '../../../e2e/parts/relay.ts';
import { Outage } from '../outage/outage.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import type { Transaction } from '../sql/sql.ts';
import { type DatabaseOptions, PostgresDatabase } from './database.ts';
import { openPostgres } from './open.ts';

const SCHEMA = { migrations: ['CREATE TABLE done (id TEXT, n INTEGER NOT NULL) STRICT;'] };
const INSERT = 'INSERT INTO done (id, n) VALUES (?, ?)';

const open = (
  servers: readonly { readonly url: string }[],
  options: Partial<DatabaseOptions> = {},
) =>
  new PostgresDatabase({
    urls: servers.map(({ url }) => url),
    schema: 'countersign',
    connections: 4,
    deadline: 5_000,
    monotonic: () => performance.now(),
    chance: Math.random,
    outage: new Outage('PostgreSQL', silentLog, () => performance.now()),
    ...options,
  });

/** Starts a relay to a server, and returns its PostgreSQL URL. */
async function relayTo(postgres: Postgres) {
  const relay = await startRelay(postgres.port);
  const url = `postgres://postgres@127.0.0.1:${new URL(relay.url).port}/postgres`;
  return { relay, url, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
}

const succeeds = (work: () => Promise<unknown>) => () =>
  work().then(
    () => true,
    () => false,
  );

/** The ids of writes, by their outcomes. */
interface Outcomes {
  readonly acknowledged: string[];
  readonly refused: string[];
  readonly doubtful: string[];
  readonly strange: unknown[];
}

/** Writes until it is stopped: two rows in one transaction each. */
function write(database: PostgresDatabase, writers: number) {
  const outcomes: Outcomes = { acknowledged: [], refused: [], doubtful: [], strange: [] };
  const done = new AbortController();
  const one = async (writer: number) => {
    for (let n = 0; !done.signal.aborted; n += 1) {
      const id = `${writer} ${n}`;
      try {
        await database.write(async (sql) => {
          await sql.run(INSERT, id, 1);
          await sql.run(INSERT, id, 2);
        });
        outcomes.acknowledged.push(id);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) outcomes.strange.push(error);
        else outcomes[error.refused ? 'refused' : 'doubtful'].push(id);
        await sleep(5);
      }
    }
  };
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => one(writer)));
  return {
    outcomes,
    async [Symbol.asyncDispose]() {
      done.abort();
      await all;
    },
  };
}

/**
 * Expects that acknowledged writes are stored completely and once, refused writes are not stored, and writes with an
 * unknown outcome are stored completely or not at all.
 */
async function expectAll(postgres: Postgres, outcomes: Outcomes): Promise<void> {
  const there = new Set<string>();
  const rows = await postgres.sql(
    `SELECT id || ':' || string_agg(n::text, ',' ORDER BY n) FROM countersign.done GROUP BY id`,
  );
  for (const row of rows.split('\n').filter(Boolean)) {
    const [id = '', parts] = row.split(':');
    expect(`${id}:${parts}`).toBe(`${id}:1,2`);
    there.add(id);
  }
  expect(outcomes.strange).toEqual([]);
  expect(outcomes.acknowledged.filter((id) => !there.has(id))).toEqual([]);
  expect(outcomes.refused.filter((id) => there.has(id))).toEqual([]);
  expect(outcomes.acknowledged.length).toBeGreaterThan(0);
}

/** Waits until as many more writes as there are writers were acknowledged. */
const untilMore = ({ acknowledged }: Outcomes) => {
  const before = acknowledged.length;
  return until(() => acknowledged.length > before + 20);
};

test('if PostgreSQL hangs or is killed, no acknowledged write is lost, and writes go on afterwards', async () => {
  await using postgres = await startPostgres();
  await using database = open([postgres], { deadline: 500 });
  await database.migrate(SCHEMA);
  const writing = write(database, 6);
  const { outcomes } = writing;
  const failed = () => outcomes.refused.length + outcomes.doubtful.length;
  await untilMore(outcomes);
  for (const [stop, start] of [
    [() => postgres.hang(), () => postgres.wake()],
    [() => postgres.kill(), () => postgres.start()],
  ] as const) {
    const before = failed();
    await stop();
    await until(() => failed() > before + 6);
    await expect(database.read((sql) => sql.all('SELECT 1'))).rejects.toThrow(StoreUnavailable);
    await start();
    await untilMore(outcomes);
  }
  await writing[Symbol.asyncDispose]();
  await expectAll(postgres, outcomes);
});

/** Ways to write two rows, each with its number of messages before the commit. */
const MESSAGES: readonly (readonly [
  before: number,
  write: (sql: Transaction, id: string) => Promise<unknown>,
])[] = [
  [
    2,
    async (sql, id) => {
      await sql.run(INSERT, id, 1);
      await sql.run(INSERT, id, 2);
    },
  ],
  [
    1,
    async (sql, id) => {
      await sql.run(INSERT, id, 1);
      await sql.last.run(INSERT, id, 2);
    },
  ],
  [0, (sql, id) => Promise.all([sql.run(INSERT, id, 1), sql.last.run(INSERT, id, 2)])],
];

test.each(['question', 'answer'] as const)(
  'if the connection is cut at the %s of any message, a write is refused, in doubt at its commit, or done',
  async (side) => {
    await using postgres = await startPostgres();
    await using network = await relayTo(postgres);
    await using database = open([network]);
    await database.migrate(SCHEMA);
    for (const [before, work] of MESSAGES) {
      const outcomes: Outcomes = { acknowledged: [], refused: [], doubtful: [], strange: [] };
      for (let cut = 1; outcomes.acknowledged.length < 2; cut += 1) {
        const id = `${side} ${before} ${cut}`;
        await database.ping('reading');
        network.relay.cut(cut, side);
        try {
          await database.write((sql) => work(sql, id));
          outcomes.acknowledged.push(id);
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) outcomes.strange.push(error);
          else outcomes[error.refused ? 'refused' : 'doubtful'].push(id);
        }
        network.relay.cut(Infinity, side);
        await until(succeeds(() => database.ping('reading')));
      }
      expect(outcomes.refused.length).toBeGreaterThanOrEqual(before);
      expect(outcomes.doubtful).toHaveLength(1);
      await expectAll(postgres, outcomes);
    }
  },
);

test('the readiness check does not lock its row for longer than one message', async () => {
  await using postgres = await startPostgres();
  await using network = await relayTo(postgres);
  await using database = open([network], { connections: 1 });
  await database.migrate(SCHEMA);
  await database.ping('all');
  network.relay.cut(3, 'question');
  await database.ping('all');
  await expect(database.ping('reading')).rejects.toThrow(StoreUnavailable);
});

test('on a full disk writes are 503 with `full`, rows can be read and removed, and writes work again once there is room', async () => {
  await using postgres = await startPostgres({ disk: 4 });
  await using database = open([postgres]);
  await database.migrate(SCHEMA);
  await postgres.sql('CREATE TABLE room AS SELECT n FROM generate_series(1, 30000) AS n');
  await database.write((sql) => sql.run(INSERT, 'first', 1));
  const fill = () =>
    database.write(async (sql) => {
      for (let n = 0; n < 100; n += 1)
        await sql.run(INSERT, systemRandom(1_000).toString('hex'), 0);
    });
  for (let isFull = false; !isFull; isFull = !(await succeeds(fill)()));
  await expect(fill()).rejects.toMatchObject({
    name: 'StoreUnavailable',
    full: true,
    refused: true,
  });
  expect(await database.read((sql) => sql.all('SELECT n FROM done WHERE id = ?', 'first'))).toEqual(
    [[1]],
  );
  expect(
    await database.write((sql) => sql.run('DELETE FROM done WHERE id <> ?', 'first')),
  ).toBeGreaterThan(0);
  await postgres.sql('DROP TABLE room');
  await fill();
});

test('if the operator makes PostgreSQL read-only, writes are 503 at once, also on open connections, until it is writable again', async () => {
  await using postgres = await startPostgres();
  await using database = open([postgres]);
  await database.migrate(SCHEMA);
  const insert = () => database.write((sql) => sql.run(INSERT, 'some', 1));
  const set = async (value: string) => {
    await postgres.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await postgres.sql('SELECT pg_reload_conf()');
  };
  await insert();
  await set('on');
  await until(async () => !(await succeeds(insert)()));
  await expect(insert()).rejects.toThrow('read-only');
  await set('off');
  await until(succeeds(insert));
  await insert();
});

test('a process leaves a former primary that became read-only, and finds the new primary', async () => {
  await using former = await startPostgres();
  await using next = await startPostgres({ standbyOf: former });
  await using database = open([former, next]);
  await database.migrate(SCHEMA);
  await former.waitFor(next);
  const insert = (id: string) => database.write((sql) => sql.run(INSERT, id, 1));
  await insert('before');
  await former.sql('ALTER SYSTEM SET default_transaction_read_only = on');
  await former.sql('SELECT pg_reload_conf()');
  await next.promote();
  await next.sql('ALTER SYSTEM RESET synchronous_standby_names');
  await next.sql('SELECT pg_reload_conf()');
  await until(succeeds(() => insert('after')));
  expect(await next.sql(`SELECT count(*) FROM countersign.done WHERE id = 'after'`)).toBe('1');
});

test('if other programs hold all connections, the answer is 503 that says so, until connections are free again', async () => {
  await using postgres = await startPostgres({ settings: ['max_connections = 8'] });
  await using database = open([postgres]);
  await database.migrate(SCHEMA);
  await database.ping('all');
  const others = Array.from({ length: 7 }, () => new Client(postgres.url));
  for (const other of others) await other.connect();
  await using late = open([postgres]);
  await expect(late.ping('all')).rejects.toMatchObject({
    name: 'StoreUnavailable',
    refused: true,
    message: expect.stringContaining('too many clients'),
  });
  for (const other of others) await other.end();
  await until(succeeds(() => late.ping('all')));
});

test('if the process itself uses all its connections, the answer is 503 that says so', async () => {
  await using postgres = await startPostgres();
  await using database = open([postgres], { connections: 1, deadline: 500 });
  await database.migrate(SCHEMA);
  const [begun, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const long = database.write(() => (begun.resolve(), going.promise));
  await begun.promise;
  await expect(database.ping('reading')).rejects.toMatchObject({
    name: 'StoreUnavailable',
    refused: true,
    message: expect.stringContaining('no connection to it became free'),
  });
  going.resolve();
  await long;
  await database.ping('reading');
});

test('a write that waits too long for a lock is refused, and PostgreSQL stops it', async () => {
  await using postgres = await startPostgres();
  await using database = open([postgres], { deadline: 500 });
  await database.migrate(SCHEMA);
  const other = new Client(postgres.url);
  other.on('error', () => {});
  await other.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE countersign.done');
  const insert = () => database.write((sql) => sql.run(INSERT, 'waited', 1));
  await expect(insert()).rejects.toMatchObject({ refused: true });
  const waiting = `SELECT count(*) FROM pg_locks WHERE NOT granted`;
  await until(async () => (await postgres.sql(waiting)) === '0');
  await other.query('COMMIT');
  await other.end();
  await insert();
  expect(await postgres.sql('SELECT count(*) FROM countersign.done')).toBe('1');
});

test('commits that wait for a standby use no more connections than the pool has', async () => {
  await using postgres = await startPostgres();
  await using database = open([postgres], { connections: 2, deadline: 300 });
  await database.migrate(SCHEMA);
  const insert = (id: string) => database.write((sql) => sql.run(INSERT, id, 1));
  await insert('before');
  await postgres.sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`);
  await postgres.sql('SELECT pg_reload_conf()');
  await until(async () => !(await succeeds(() => insert('first'))()));
  for (let n = 0; n < 8; n += 1) {
    await expect(insert(`waiting ${n}`)).rejects.toThrow(StoreUnavailable);
  }
  // PostgreSQL's own processes, such as autovacuum, may wait, too.
  const waiting = `SELECT count(*) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'`;
  expect(await postgres.sql(waiting)).toBe('2');
  await postgres.sql('ALTER SYSTEM RESET synchronous_standby_names');
  await postgres.sql('SELECT pg_reload_conf()');
  await until(succeeds(() => insert('after')));
  expect(await postgres.sql(waiting)).toBe('0');
});

test('if a standby is promoted while the old primary is cut off, writes move to the new primary, and no acknowledged write is lost', async () => {
  await using former = await startPostgres();
  await using relay = await startRelay(former.port);
  await using next = await startPostgres({ standbyOf: former, through: relay });
  await former.waitFor(next);
  await using database = open([former, next], { deadline: 1_000 });
  await database.migrate(SCHEMA);
  const writing = write(database, 6);
  const { outcomes } = writing;
  await untilMore(outcomes);
  relay.divide();
  await until(() => outcomes.doubtful.length > 0);
  await next.promote();
  // The new primary has its settings from the former one.
  await next.sql('ALTER SYSTEM RESET synchronous_standby_names');
  await next.sql('SELECT pg_reload_conf()');
  await untilMore(outcomes);
  await writing[Symbol.asyncDispose]();
  await expectAll(next, outcomes);
});

test('verdicts know all revocations even if PostgreSQL is 500 ms away', async () => {
  await using postgres = await startPostgres();
  await using network = await relayTo(postgres);
  const openOn = (url: string) =>
    openPostgres(
      { kind: 'postgres', urls: [url], schema: 'countersign', connections: 4, deadline: 10 },
      { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 },
    );
  await using near = await openOn(postgres.url);
  const epoch = await near.revocations.epoch(true);
  await using far = await openOn(network.url);
  await using feed = await far.revocations.feed();
  await feed.latest();
  network.relay.delay(250);
  for (let n = 0; n < 5; n += 1) {
    await near.revocations.revoke('grant', `g${n}`, Date.now() + 3_600_000);
    const set = await feed.latest();
    const claims = { jti: 'j', grant_id: `g${n}`, sub: 's', client_id: 'c', epoch };
    expect(set.revokedBy(claims as RevocableClaims)).toBe('grant');
  }
});

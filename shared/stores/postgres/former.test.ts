import { expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { until } from '../../../e2e/parts/process.ts';
import { startRedis } from '../../../e2e/parts/redis.ts';
import { FAR, someApiKey } from '../contract/samples.ts';
import { Outage } from '../outage/outage.ts';
import { StoreUnavailable } from '../outage/unavailable.ts';
import { alone } from './alone.ts';
import { PostgresDatabase } from './database.ts';
import { openPostgres } from './open.ts';
import { postgresStore, redisBeside } from './started.fixture.ts';
import { Timelines } from './timelines.ts';
import { revokedOf } from './told.fixture.ts';

const succeeds = (work: () => unknown) => async () => {
  try {
    await work();
    return true;
  } catch {
    return false;
  }
};

/** Promotes a standby. It has its settings from the former primary, and no standby of its own. */
async function promote(standby: Postgres): Promise<void> {
  await standby.promote();
  await standby.sql('ALTER SYSTEM RESET synchronous_standby_names');
  await standby.sql('SELECT pg_reload_conf()');
}

test('no process that knows the new primary, and no process that starts, trusts a former primary that comes back', async () => {
  await using former = await startPostgres();
  await using next = await startPostgres({ standbyOf: former });
  await former.waitFor(next);
  const open = () =>
    openPostgres(postgresStore([former.url, next.url], { deadline: 2 }), {
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      skew: 5,
    });
  await using stores = await open();
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const revoke = (token: string) =>
    until(succeeds(() => stores.revocations.revoke('token', token, FAR)));
  await revoke('a');
  await former.kill();
  await promote(next);
  await revoke('b');
  await until(succeeds(() => feed.latest()));
  await former.start();
  await next.hang();
  for (let n = 0; n < 3; n += 1) await expect(feed.latest()).rejects.toThrow(StoreUnavailable);
  await next.wake();
  await revoke('c');
  await until(succeeds(() => feed.latest()));
  const tokens = ['a', 'b', 'c'];
  expect(await revokedOf(stores, feed, tokens)).toEqual(tokens);
  await using late = await open();
  await late.ping();
  await using starting = await late.revocations.feed();
  expect(await revokedOf(late, starting, tokens)).toEqual(tokens);
});

test('a process gives up its connections to a former primary once one of its connections has seen the new one', async () => {
  await using former = await startPostgres();
  await using next = await startPostgres({ standbyOf: former });
  const timelines = new Timelines();
  const open = (...servers: readonly Postgres[]) =>
    new PostgresDatabase({
      urls: servers.map(({ url }) => url),
      schema: 'countersign',
      connections: 2,
      deadline: 10_000,
      timelines,
      monotonic: () => performance.now(),
      chance: Math.random,
      outage: new Outage('PostgreSQL', silentLog, () => performance.now()),
    });
  const portOf = (database: PostgresDatabase) =>
    database.read(async (sql) => Number((await sql.all('SELECT inet_server_port()'))[0]?.[0]));
  await using before = open(former, next);
  expect(await portOf(before)).toBe(former.port);
  await promote(next);
  await using after = open(next);
  expect(await portOf(after)).toBe(next.port);
  expect(await portOf(before)).toBe(next.port);
  await using of = open(former);
  await expect(portOf(of)).rejects.toThrow('another server was promoted in its place');
});

test('a command that has exclusive use of the store works on the server that was promoted last', async () => {
  await using former = await startPostgres();
  await using next = await startPostgres({ standbyOf: former });
  await promote(next);
  for (const urls of [
    [former.url, next.url],
    [next.url, former.url],
  ]) {
    const port = alone(postgresStore(urls), async (client) => {
      const { rows } = await client.query('SELECT inet_server_port() AS port');
      return rows[0]?.port;
    });
    expect(await port).toBe(next.port);
  }
});

test('a process that only reads finds the promoted server while the former primary still runs', async () => {
  await using former = await startPostgres();
  await using next = await startPostgres({ standbyOf: former });
  await using redis = await startRedis();
  await former.waitFor(next);
  const store = postgresStore([former.url, next.url], { redis: redisBeside([redis.url]) });
  const open = () =>
    openPostgres(store, { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 });
  await using reading = await open();
  await reading.revocations.epoch(true);
  await using _ = await reading.revocations.feed();
  const key = someApiKey('key');
  await reading.apiKeys.add(key);
  await promote(next);
  await using writing = await open();
  await writing.apiKeys.remove(key.id);
  await until(async () => (await reading.apiKeys.get(key.id)) === undefined);
});

import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Postgres } from '../../../e2e/parts/postgres.ts';
import type { StoreUnderTest } from '../contract/store-under-test.ts';
import type { PostgresSettings, RedisSettings } from '../settings.ts';
import { redisServers } from '../redis/under-test.ts';
import { openPostgres } from './open.ts';
import { redisBeside, startSharedStore } from './started.fixture.ts';

/** Tables whose rows stand there in an empty store. */
const OF_SCHEMA = new Set(['schema', 'numbers', 'record']);

interface PostgresUnderTest {
  /** Redis beside it, and its masters. */
  readonly redis?: {
    readonly settings: RedisSettings;
    readonly masters: Parameters<typeof redisServers>[0];
  };
}

/** The same on servers of its own, with Redis beside. `sql`: carries out statements in its schema. */
export async function sharedUnderTest() {
  const { postgres, redis, ...shared } = await startSharedStore();
  const store = await postgresUnderTest(postgres, {
    redis: { settings: redisBeside([redis.url]), masters: [redis] },
  });
  return {
    ...store,
    sql: (statements: string) => postgres.sql(`SET search_path = ${store.schema}; ${statements}`),
    end: async () => shared[Symbol.asyncDispose](),
  };
}

/** A store in a new schema of a server, on a clock that the test moves. */
export async function postgresUnderTest(
  postgres: Postgres,
  { redis }: PostgresUnderTest = {},
): Promise<StoreUnderTest & { readonly clock: ManualClock; readonly schema: string }> {
  const clock = new ManualClock();
  const servers = redis && redisServers(redis.masters);
  const schema = `test_${systemRandom(8).toString('hex')}`;
  const settings: PostgresSettings = {
    kind: 'postgres',
    urls: [postgres.url],
    schema,
    connections: 10,
    deadline: 10,
    redis: redis?.settings,
  };
  const open = () =>
    openPostgres(settings, {
      clock,
      random: systemRandom,
      log: silentLog,
      skew: 5,
      serverTime: async () => clock.now(),
    });
  const tables = async () => {
    const names = await postgres.sql(
      `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`,
    );
    return names
      .split('\n')
      .filter((name) => name !== '' && !OF_SCHEMA.has(name))
      .map((name) => `${schema}.${name}`);
  };
  return {
    clock,
    schema,
    spec: () => ({
      store: settings,
      data: '',
      revocations: { lease: 0.2 },
      tokens: { skew: 5 },
      now: clock.now(),
      longestLife: 605,
    }),
    open,
    async countAll() {
      const counts = (await tables()).map((name) => `(SELECT count(*) FROM ${name})`);
      const rows = Number(await postgres.sql(`SELECT ${['0', ...counts].join(' + ')}`));
      return rows + ((await servers?.countKeys()) ?? 0);
    },
    async passSeconds(seconds) {
      clock.advance(seconds);
      await servers?.passSeconds(seconds);
    },
    async forget() {
      const all = (await tables()).join(', ');
      await postgres.sql(`TRUNCATE ${all}; UPDATE ${schema}.numbers SET last = 0`);
      await servers?.empty();
      clock.advance(2);
    },
    end: async () => void (await postgres.sql(`DROP SCHEMA ${schema} CASCADE`)),
  };
}

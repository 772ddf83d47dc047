import { type Postgres, startPostgres } from '../../../e2e/parts/postgres.ts';
import { type Redis, type RedisOptions, startRedis } from '../../../e2e/parts/redis.ts';
import type { PostgresSettings, RedisSettings } from '../settings.ts';

/** Seconds: patience for a busy machine. */
const DEADLINE = 10;

/** The configuration that names these PostgreSQL servers, with patience for a busy machine unless `more` says otherwise. */
export function postgresStore(
  urls: string[],
  more: Partial<PostgresSettings> = {},
): PostgresSettings {
  return {
    kind: 'postgres',
    urls,
    schema: 'countersign',
    connections: 20,
    deadline: DEADLINE,
    ...more,
  };
}

/** The member `redis` that names these servers, as patient. */
export function redisBeside(urls: string[], more: Partial<RedisSettings> = {}): RedisSettings {
  const deadline = DEADLINE;
  return { mode: 'single', urls, master: 'mymaster', prefix: 'cs', replicas: 0, deadline, ...more };
}

/** A store for several machines. */
export interface SharedStore extends AsyncDisposable {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly store: PostgresSettings;
}

/** Starts PostgreSQL with Redis beside it. `deadline`: of both, in seconds. */
export async function startSharedStore({
  deadline = DEADLINE,
  ...redisOptions
}: RedisOptions & { readonly deadline?: number } = {}): Promise<SharedStore> {
  await using parts = new AsyncDisposableStack();
  const postgres = parts.use(await startPostgres());
  const redis = parts.use(await startRedis(redisOptions));
  const store = postgresStore([postgres.url], {
    deadline,
    redis: redisBeside([redis.url], { deadline }),
  });
  const owned = parts.move();
  return { postgres, redis, store, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

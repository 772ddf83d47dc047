import { postgresStore, redisBeside } from '#shared/stores/postgres/started.fixture.ts';
import { startPostgres } from '../../parts/postgres.ts';
import { startRedis } from '../../parts/redis.ts';

/** The store of a pair, by its way in the table. */
export const STORES = ['SQLite', 'PostgreSQL', 'PostgreSQL, Redis'] as const;
export type StoreName = (typeof STORES)[number];

/** The servers of a pair's store. Each write is on the disk (here in memory) before it is acknowledged. */
export interface ServedStore {
  /** The pair's settings for this store. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The processes of the store's servers. Child processes are included. */
  readonly pids: readonly number[];
}

/**
 * Starts the store's servers on the load generator's CPU. Resolves to undefined for SQLite, which has no
 * server.
 */
export async function startServedStore(
  name: StoreName,
  stack: AsyncDisposableStack,
): Promise<ServedStore | undefined> {
  if (name === 'SQLite') return undefined;
  const postgres = stack.use(await startPostgres());
  if (name === 'PostgreSQL') {
    return { settings: { store: postgresStore([postgres.url]) }, pids: [postgres.pid] };
  }
  const redis = stack.use(await startRedis());
  const store = postgresStore([postgres.url], { redis: redisBeside([redis.url]) });
  return { settings: { store }, pids: [postgres.pid, redis.pid] };
}

/** Opens a target on each store; the stack ends the stores. */
export async function onEachStore<T>(
  stack: AsyncDisposableStack,
  open: (options: { readonly store?: ServedStore }) => Promise<T>,
): Promise<OnEachStore<T>> {
  return eachStore(async (name) => {
    const store = await startServedStore(name, stack);
    return open(store ? { store } : {});
  });
}

export type OnEachStore<T> = Readonly<Record<StoreName, T>>;

export const ofEachStore = <T, R>(
  targets: OnEachStore<T>,
  of: (target: T) => R | Promise<R>,
): Promise<OnEachStore<R>> => eachStore(async (name) => of(targets[name]));

async function eachStore<T>(of: (name: StoreName) => Promise<T>): Promise<OnEachStore<T>> {
  return {
    SQLite: await of('SQLite'),
    PostgreSQL: await of('PostgreSQL'),
    'PostgreSQL, Redis': await of('PostgreSQL, Redis'),
  };
}

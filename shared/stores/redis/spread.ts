import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import type { CacheReports } from '../cache/cache-reports.ts';
import type { RedisSettings } from '../settings.ts';
import { redisCacheReports } from './cache/cache-reports.ts';
import { checkServers, patienceAtStart } from './check-servers.ts';
import { Connection } from './connection/connection.ts';
import { topologyOf } from './connection/topology.ts';
import { migrate } from './migrations/migrate.ts';
import { moveToManySlots } from './to-many-slots.ts';

export interface SpreadDependencies {
  readonly random: Random;
  readonly log: Log;
  /** Throws if a server is running, as these reports tell. */
  refuse(reports: CacheReports): Promise<void>;
  wait(milliseconds: number): Promise<void>;
  /** Is told now and then how many keys were moved. */
  tell(moved: number): void;
}

/**
 * Milliseconds within which a server that has looked at the schema already has started, and has reported, and within which any
 * other process looks at the layout again (`keepingLayout`).
 */
const START = 10_000;

/** How often the connection is tried to be opened. */
const ATTEMPTS = 3;

/** Moves a store to many slots. Rejects with `StoreUnavailable`. Resolves to how many keys were moved; undefined: it has many. */
export async function spreadRedis(
  config: RedisSettings,
  { random, log, refuse, wait, tell }: SpreadDependencies,
): Promise<number | undefined> {
  const { prefix, replicas } = config;
  const deadline = patienceAtStart(config);
  const topology = topologyOf(config, { deadline, monotonic: () => performance.now() });
  await checkServers(topology, config, log);
  using redis = new Connection(topology, replicas, log, deadline);
  await redis.open(ATTEMPTS);
  const reports = redisCacheReports(redis, prefix);
  await refuse(reports);
  await migrate(redis, prefix);
  return await moveToManySlots(redis, prefix, {
    random,
    async sure() {
      await wait(START);
      await refuse(reports);
    },
    tell,
  });
}

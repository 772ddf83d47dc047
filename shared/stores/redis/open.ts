import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import type { Need } from '../outage/need.ts';
import type { RedisSettings } from '../settings.ts';
import { type MemoryOptions, redisMemory, redisProofs } from './authentication/memory.ts';
import { checkServers, patienceAtStart } from './check-servers.ts';
import { Connection } from './connection/connection.ts';
import { topologyOf } from './connection/topology.ts';
import { Told, type ToldRecord } from './told/told.ts';
import { limitsOver } from '#shared/stores/limits/blocks.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { redisSessions, type SessionOptions } from './authentication/sessions.ts';
import { redisUseCounts } from './authentication/use-counts.ts';
import { redisCacheReports } from './cache/cache-reports.ts';
import { redisBuckets } from './limits/buckets.ts';
import { redisKept } from './trees/kept.ts';

interface BesideDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Seconds by which the clocks of our servers may differ. */
  readonly skew: number;
  /** True if no server has opened the store in PostgreSQL. */
  readonly isNew: boolean;
  /** When PostgreSQL was restored, in milliseconds. */
  readonly restored: number;
}

/** Redis beside a record in SQL. */
export interface Beside extends Disposable {
  /** The parts that Redis keeps in place of PostgreSQL. */
  readonly parts: ReturnType<typeof besideParts>;
  /** Notifies all servers of new rows. */
  readonly told: Told;
  /** Resolves if Redis answers and, for `all`, takes a write. Begins a new memory if Redis has lost the last one. */
  ping(need: Need): Promise<void>;
}

/** Milliseconds for an answer of a Cluster: a replaced master that hung still answers earlier commands. */
const CLUSTER_ANSWER = 1_000;

/** Attempts to open the connections at the start. */
const ATTEMPTS = 8;

/** Opens Redis beside a record. Rejects with the reason; `StoreUnavailable` if Redis does not answer. */
export async function openBeside(
  config: RedisSettings,
  record: ToldRecord,
  { clock, random, log, skew, isNew, restored }: BesideDependencies,
): Promise<Beside> {
  const { mode, prefix, replicas } = config;
  const deadline = config.deadline * 1000;
  const monotonic = () => clock.monotonic();
  const patient = topologyOf(config, { deadline: patienceAtStart(config), monotonic });
  await checkServers(patient, config, log);
  using parts = new DisposableStack();
  const topology = topologyOf(config, { deadline, monotonic });
  const redis = parts.use(new Connection(topology, replicas, log, deadline));
  await redis.open(ATTEMPTS);
  const longest = mode === 'cluster' ? Math.min(deadline, CLUSTER_ANSWER) : deadline;
  const told = new Told({ redis, prefix, record, random, monotonic, longest });
  await told.check();
  const options = { prefix, clock, random, skew, restored };
  const memory = redisMemory(redis, options);
  await memory.look(isNew);
  const owned = parts.move();
  return {
    told,
    parts: besideParts(redis, options),
    async ping(need) {
      if (need === 'reading') return told.check();
      await redis.touch(`{${prefix}}`);
      await memory.look();
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** The parts that Redis keeps in place of PostgreSQL. Redis may lose all of them, and no proof becomes valid again. */
export type BesideParts = Pick<
  Stores,
  'cacheReports' | 'kept' | 'limits' | 'proofs' | 'sessions' | 'useCounts'
>;

type BesideOptions = MemoryOptions & SessionOptions;

export function besideParts(redis: Connection, options: BesideOptions): BesideParts {
  const { prefix, clock, random } = options;
  const memory = redisMemory(redis, options);
  return {
    cacheReports: redisCacheReports(redis, prefix),
    kept: redisKept(redis, prefix, random),
    limits: limitsOver(redisBuckets(redis, prefix), clock),
    proofs: redisProofs(memory),
    sessions: redisSessions(redis, options),
    useCounts: redisUseCounts(memory),
  };
}

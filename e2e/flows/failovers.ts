/**
 * Causes an outage of Redis's master beside PostgreSQL during all uses, and reads back all acknowledged
 * writes. Throws AssertionError.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresStore, redisBeside } from '#shared/stores/postgres/started.fixture.ts';
import { startDividedCluster, startDividedSentinels } from '../parts/divided-redis.ts';
import type { DividedRedis, Site } from '../parts/divided-redis.ts';
import { startPostgres } from '../parts/postgres.ts';
import { until } from '../parts/process.ts';
import { startServers, startUses } from './all-uses.ts';
import type { Tally } from './all-uses.ts';
import type { Flow } from './flow.ts';

const START = { sentinel: startDividedSentinels, cluster: startDividedCluster };
export type Topology = keyof typeof START;
export const TOPOLOGIES = Object.keys(START) as readonly Topology[];

/** The faults of the master, with or without faults of its replicas, and how the master returns. */
const HAPPENING = {
  killed: {
    begin: async (_, { redis }) => redis.kill(),
    end: async (_, { redis }) => redis.start(),
  },
  stopped: {
    begin: async (_, { redis }) => redis.hang(),
    end: async (_, { redis }) => redis.wake(),
  },
  divided: {
    begin: ({ sites }, { address }) => sites.divide(address),
    end: ({ sites }) => sites.unite(),
  },
  'killed after its replicas had stopped': {
    async begin({ candidates }, master) {
      const replicas = candidates.filter((one) => one !== master);
      for (const { redis } of replicas) redis.hang();
      await sleep(1500);
      await master.redis.kill();
      for (const { redis } of replicas) redis.wake();
    },
    end: async (_, { redis }) => redis.start(),
  },
} satisfies Record<
  string,
  Readonly<Record<'begin' | 'end', (set: DividedRedis, master: Site) => Promise<void>>>
>;
export type Fault = keyof typeof HAPPENING;
export const FAULTS = Object.keys(HAPPENING) as readonly Fault[];

/** Milliseconds of all uses before the fault, and after the next master has taken over. */
const LENGTH = { before: 1500, after: 2500 };

/** Starts two of each server on this topology, for any number of failovers. */
export async function startFailovers(topology: Topology): Promise<FailoverServers> {
  await using parts = new AsyncDisposableStack();
  const postgres = parts.use(await startPostgres());
  const set = parts.use(await START[topology]());
  const redis = redisBeside([...set.store.urls], {
    mode: set.store.mode,
    replicas: 1,
    deadline: 1,
  });
  const flow = parts.use(await startServers(postgresStore([postgres.url], { redis })));
  const owned = parts.move();
  return { set, flow, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export interface FailoverServers extends AsyncDisposable {
  readonly set: DividedRedis;
  readonly flow: Flow;
}

/** Runs one failover during all uses; adds acknowledged writes to the tally. */
export async function failOver(
  { set, flow }: FailoverServers,
  fault: Fault,
  tally: Tally,
): Promise<void> {
  await set.whole();
  const uses = await startUses(flow, tally);
  await sleep(LENGTH.before);
  const before = await set.master();
  await HAPPENING[fault].begin(set, before);
  await until(async () => (await set.master()) !== before);
  await uses.goesOn();
  await sleep(LENGTH.after);
  await HAPPENING[fault].end(set, before);
  await set.whole();
  await uses.finish();
}

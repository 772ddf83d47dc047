/** Takes the master of Redis beside PostgreSQL away while everything is used, and reads back all that was acknowledged. Throws AssertionError. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresStore, redisBeside } from '#shared/stores/postgres/started.fixture.ts';
import { startDividedCluster, startDividedSentinels } from '../parts/divided-redis.ts';
import type { DividedRedis, Site } from '../parts/divided-redis.ts';
import { startPostgres } from '../parts/postgres.ts';
import { until } from '../parts/process.ts';
import { administering } from './administering.ts';
import { approving, proving, Refused, revoking, rotating, writing } from './failover-uses.ts';
import type { Kind, Part } from './failover-uses.ts';
import { LIMITS, startFlow } from './flow.ts';
import type { Flow } from './flow.ts';
import { addDevice, App, newPerson } from './person.ts';

const START = { sentinel: startDividedSentinels, cluster: startDividedCluster };
export type Topology = keyof typeof START;
export const TOPOLOGIES = Object.keys(START) as readonly Topology[];

/** The faults of the master, with its replicas well or not, and how it comes back. */
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

/** Counts of acknowledged writes by kind, and of answers 503 instead. */
export interface Failovers extends Record<Kind, number> {
  runs: number;
  refused: number;
}

export const noFailovers = (): Failovers => ({
  runs: 0,
  refused: 0,
  changes: 0,
  revocations: 0,
  documents: 0,
  proofs: 0,
  codes: 0,
  rotations: 0,
  devices: 0,
});

/** Milliseconds of load before the fault, and after the next master has taken over. */
const LOAD = { before: 1500, after: 2500 };
const DOCUMENTS = 4;
const CHAINS = 2;
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const PEOPLE = { userCode: UNLIMITED, signIn: UNLIMITED, account: UNLIMITED };

/** Two of each server on that topology, for any number of failovers. */
export async function startFailovers(topology: Topology): Promise<FailoverServers> {
  await using parts = new AsyncDisposableStack();
  const postgres = parts.use(await startPostgres());
  const set = parts.use(await START[topology]());
  const redis = redisBeside([...set.store.urls], {
    mode: set.store.mode,
    replicas: 1,
    deadline: 1,
  });
  const flow = parts.use(
    await startFlow({
      store: postgresStore([postgres.url], { redis }),
      authz: 2,
      resource: 2,
      settings: { limits: { ...LIMITS, ...PEOPLE }, tokens: { refreshGrace: 0 } },
    }),
  );
  const owned = parts.move();
  return { set, flow, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export interface FailoverServers extends AsyncDisposable {
  readonly set: DividedRedis;
  readonly flow: Flow;
}

/** One failover amid writes of all kinds; adds what was acknowledged to the tally. */
export async function failOver(
  { set, flow }: FailoverServers,
  fault: Fault,
  tally: Failovers,
): Promise<void> {
  await set.whole();
  const load = await startLoad(flow, tally);
  await sleep(LOAD.before);
  const before = await set.master();
  await HAPPENING[fault].begin(set, before);
  await until(async () => (await set.master()) !== before);
  await load.goesOn();
  await sleep(LOAD.after);
  await HAPPENING[fault].end(set, before);
  await set.whole();
  await load.stop();
  const [restarted] = flow.pair.resources;
  await restarted?.kill();
  await restarted?.start();
  await load.check();
  tally.runs += 1;
}

async function startLoad(flow: Flow, tally: Failovers) {
  const { pair } = flow;
  const run = randomUUID();
  const client = await pair.addClient();
  const writer = await pair.token(client);
  const anyAuthz = () => randomInt(pair.authz.length);
  const anyResource = () => randomInt(pair.resources.length);

  const revocations = await revoking(flow, client, anyAuthz);
  const documents = Array.from({ length: DOCUMENTS }, (_, n) =>
    writing(flow, `/documents/${run}-${n}`, writer, anyResource),
  );
  const proofs = await proving(flow, client, anyResource);
  const person = await newPerson(flow);
  const app = await App.add(flow);
  const chains: Part[] = [];
  while (chains.length < CHAINS) {
    chains.push(rotating(flow, app, anyAuthz));
  }
  const devices = approving(flow, await addDevice(flow), person, anyAuthz);

  const end = new AbortController();
  /** How often each did its work since somebody asked. */
  let done: number[] = [];
  const repeat = async ({ work, refused }: Part, index: number) => {
    while (!end.signal.aborted) {
      try {
        for (const kind of await work()) tally[kind] += 1;
        done[index] = (done[index] ?? 0) + 1;
      } catch (error) {
        // Pages say it in these words, too.
        if (
          !(
            error instanceof Refused ||
            /^(no tokens: |signing in gave )?503/.test((error as Error).message)
          )
        ) {
          throw error;
        }
        tally.refused += 1;
        refused?.();
        await sleep(50);
      }
    }
  };
  const changes = await administering(flow, anyAuthz);
  const parts = [changes, revocations, ...documents, proofs, ...chains, devices];
  const running = Promise.all(parts.map(repeat));
  // Told by `stop`.
  running.catch(() => end.abort());

  return {
    /** Whether each part has done its work twice, all of it under the next master. */
    async goesOn() {
      done = [];
      await until(() => end.signal.aborted || parts.every((_, index) => (done[index] ?? 0) >= 2));
    },
    async stop() {
      end.abort();
      await running;
    },
    async check() {
      for (const part of parts) await part.keeps();
      for (const part of parts) await part.refuses();
    },
  };
}

/**
 * Promotes the standby of PostgreSQL during all uses, and reads back all acknowledged writes. Throws
 * AssertionError.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresStore, redisBeside } from '#shared/stores/postgres/started.fixture.ts';
import { freePort } from '../parts/free-port.ts';
import { type Postgres, startPostgres } from '../parts/postgres.ts';
import { until } from '../parts/process.ts';
import { startRedis } from '../parts/redis.ts';
import { type Relay, startRelay } from '../parts/relay.ts';
import { startServers, startUses, type Tally } from './all-uses.ts';
import type { Flow } from './flow.ts';

/**
 * Milliseconds of all uses before a fault, without the standby, and beside the former primary. DEADLINE is
 * in seconds.
 */
const LENGTH = { before: 1500, alone: 6000, beside: 6000 };
const DEADLINE = 4;

/** A PostgreSQL server, if one runs, and the relay through which the servers reach it. */
interface Place {
  postgres: Postgres | undefined;
  readonly door: Relay;
}

/** A primary, and the relay through which its synchronous standby replicates. */
interface Scene {
  readonly postgres: Postgres;
  readonly door: Relay;
  readonly link: Relay;
}

/** How the primary fails, and how it returns unchanged while the former standby is the primary. */
const HAPPENING = {
  'killed, and started again': {
    begin: ({ postgres }) => postgres.kill(),
    end: ({ postgres }) => postgres.start(),
  },
  'cut off from its standby, then from the servers': {
    async begin({ door, link }) {
      link.divide();
      await sleep(LENGTH.alone);
      door.divide();
    },
    end: async ({ door }) => door.heal(),
  },
  'cut off from its standby alone': {
    async begin({ link }) {
      link.divide();
      await sleep(LENGTH.alone);
    },
    end: async () => {},
  },
} satisfies Record<string, Readonly<Record<'begin' | 'end', (primary: Scene) => Promise<void>>>>;
export type PostgresFault = keyof typeof HAPPENING;
export const POSTGRES_FAULTS = Object.keys(HAPPENING) as readonly PostgresFault[];

export interface PostgresServers extends AsyncDisposable {
  readonly flow: Flow;
  /** The first place is the primary. */
  places: readonly [Place, Place];
}

/** Starts two of each server on PostgreSQL, with or without Redis. */
export async function startPostgresServers(withRedis: boolean): Promise<PostgresServers> {
  await using parts = new AsyncDisposableStack();
  const first = await startPostgres();
  const places: readonly [Place, Place] = [
    { postgres: first, door: parts.use(await startRelay(first.port)) },
    { postgres: undefined, door: parts.use(await startRelay(await freePort())) },
  ];
  for (const place of places) parts.defer(async () => place.postgres?.[Symbol.asyncDispose]());
  const urls = places.map(
    ({ door }) => `postgres://postgres@127.0.0.1:${new URL(door.url).port}/postgres`,
  );
  const redis = withRedis ? parts.use(await startRedis({ appendonly: true })) : undefined;
  const store = postgresStore(urls, {
    deadline: DEADLINE,
    redis: redis && redisBeside([redis.url], { deadline: DEADLINE }),
  });
  const flow = parts.use(await startServers(store));
  const owned = parts.move();
  return { flow, places, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/**
 * Runs one failover during all uses: the standby is promoted, the former primary returns, and the new
 * primary then pauses. Adds acknowledged writes to the tally.
 */
export async function failOverPostgres(
  servers: PostgresServers,
  fault: PostgresFault,
  tally: Tally,
): Promise<void> {
  const { flow, places } = servers;
  const [primary, next] = places;
  const { postgres, door } = primary;
  if (postgres === undefined) throw new Error('there is no primary');
  // The test's own store connection looks for the next primary, as servers do.
  await using _ = await flow.stores.revocations.feed();
  await using link = await startRelay(postgres.port);
  await next.postgres?.[Symbol.asyncDispose]();
  const standby = await startPostgres({ standbyOf: postgres, through: link });
  next.postgres = standby;
  next.door.lead(standby.port);
  await postgres.waitFor(standby);
  const uses = await startUses(flow, tally);
  await uses.goesOn();
  await sleep(LENGTH.before);
  await HAPPENING[fault].begin({ postgres, door, link });
  await standby.promote();
  // The promoted server has copied the former primary's settings, but has no standby.
  await standby.sql('ALTER SYSTEM RESET synchronous_standby_names');
  await standby.sql('SELECT pg_reload_conf()');
  await uses.goesOn();
  await HAPPENING[fault].end({ postgres, door, link });
  await sleep(LENGTH.beside);
  await standby.hang();
  await sleep(LENGTH.beside);
  await standby.wake();
  await uses.goesOn();
  await until(async () => flow.stores.ping().then(() => true));
  await uses.finish();
  servers.places = [next, primary];
}

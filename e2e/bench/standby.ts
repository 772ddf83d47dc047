import { postgresStore, redisBeside } from '#shared/stores/postgres/started.fixture.ts';
import { startPostgres } from '../parts/postgres.ts';
import { startRedis } from '../parts/redis.ts';
import { startRelay } from '../parts/relay.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { overWrk } from './http-load.ts';
import { compare } from './measure.ts';
import { comparison, type Findings, type Table } from './report.ts';
import { furnish, SETTINGS, verify } from './site.ts';
import { startCountersign } from './targets/countersign.ts';
import { byProof } from './token-contenders.ts';

interface Place {
  /** Whether a commit waits for the standby. */
  readonly waits: boolean;
  /** Milliseconds to the standby, in each direction. */
  readonly away: number;
  readonly withRedis: boolean;
}

const HERE = { waits: true, away: 0, withRedis: false };
const PLACES: Readonly<Record<string, Place>> = {
  'a standby that no commit waits for': { ...HERE, waits: false },
  'a synchronous standby': HERE,
  'a synchronous standby, 1 ms in each direction': { ...HERE, away: 1 },
  'a synchronous standby, Redis': { ...HERE, withRedis: true },
};

const NOTES = [
  'Each request has a new DPoP proof. PostgreSQL alone commits the proof before the verdict; Redis keeps the proof in',
  'place of PostgreSQL. Primary, standby and Redis have their data in memory, on the CPU of the load generator.',
];

/** Measures DPoP requests on PostgreSQL with a standby, without and with the wait for the standby. */
export async function measureStandby(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const contenders = [];
  for (const [name, place] of Object.entries(PLACES)) {
    const site = await furnish(await startBesideStandby(place, stack));
    contenders.push(await byProof(name, site.servers.resource, site, verify));
  }
  const tables: Table[] = [];
  let errors = 0;
  for (const connections of [32, 1]) {
    const loads = contenders.map((one) => overWrk(one, connections));
    const measured = await compare(loads, say);
    errors += measured.reduce((sum, row) => sum + row.errors, 0);
    tables.push(comparison(`DPoP, /verify, ${connections} at once, PostgreSQL with`, measured));
  }
  return { tables, notes: NOTES, errors };
}

async function startBesideStandby(place: Place, stack: AsyncDisposableStack) {
  const { waits, away, withRedis } = place;
  const primary = stack.use(await startPostgres());
  const link = stack.use(await startRelay(primary.port));
  const standby = stack.use(await startPostgres({ standbyOf: primary, through: link }));
  if (waits) await primary.waitFor(standby);
  link.delay(away);
  const redis = withRedis ? stack.use(await startRedis()) : undefined;
  const settings = {
    store: postgresStore([primary.url], { redis: redis && redisBeside([redis.url]) }),
  };
  const pids = [primary.pid, standby.pid, ...(redis ? [redis.pid] : [])];
  return stack.use(await startCountersign(SETTINGS, { store: { settings, pids } }));
}

/**
 * `npm run soak`: 1,000 kill -9 of the servers while they write, half of them on each store, and 400 amid
 * changes of whole trees.
 *
 * `npm run soak -- audit [KILLS]`: that many (20) kill -9 on each store amid changes with events of the audit log.
 *
 * `npm run soak -- failover [RUNS]`: the master of Redis beside PostgreSQL taken away in each way, that often (10 times), with
 * Sentinel and with Cluster.
 *
 * `npm run soak -- postgres-failover [RUNS]`: the standby of PostgreSQL promoted in each way, that often (5 times), and the
 * former primary back as it was, with Redis and without.
 *
 * `npm run soak -- kills [KILLS]`: so many (50) kill -9 each of a server, of PostgreSQL alone and beside Redis, and of that
 * Redis, amid all uses.
 *
 * `npm run soak -- cache [SEED]`: 1,000 schedules of writers, readers and purgers at two gateways that are killed amid
 * them, half of them on each store.
 *
 * `npm run soak -- fuzz [SEED]`: 300,000 fuzzed requests and 2 million frames.
 *
 * `npm run soak -- two-ways [SEED]`: 100,000 requests on each store to a server as it is and to one that remembers
 * nothing.
 *
 * `npm run soak -- token-ways [SEED]`: 20,000 token requests on each store to a server that answers client
 * credentials directly and to one on which all goes through the engine.
 *
 * `npm run soak -- followers [NUMBER]`: 2,000 revocations on each store, with four servers elsewhere that follow two
 * authorization servers: how long an acknowledgement takes, and that none of them takes what was revoked.
 *
 * `npm run soak -- revocation [SEED]`: a simulation of 1,000 followers in three regions amid faults, 5,000 revocations a
 * second: how long an acknowledgement takes, and that none of them takes what was revoked.
 *
 * `npm run soak -- cookies`, `places`, `many-places`, `readers`, `sockets`: two minutes of an attack that would take what others
 * need, `npm run soak -- exhaustion` all of them: three visitors lose nothing, and the longest turn of the event loop is
 * at most twice what it is without the attack.
 *
 * `--store sqlite` or `--store postgres`: on that one alone, where a part runs on each.
 */
import { parseArgs } from 'node:util';
import { runSchedules } from './attacks/cache-schedules/schedules.ts';
import { crashAudit } from './attacks/audit-crashes.ts';
import { ATTACKS } from './attacks/exhaustion/attacks.ts';
import { soakExhaustion } from './attacks/exhaustion/exhaustion.ts';
import { soakFuzz } from './attacks/fuzz-soak.ts';
import { crashTrees } from './attacks/tree-crashes.ts';
import { startTreeServers } from './attacks/trees.fixture.ts';
import { compareTokenWays } from './attacks/token-ways/token-ways.ts';
import { compareTwoWays, type Differential } from './attacks/two-ways/two-ways.ts';
import { crash } from './flows/crashes.ts';
import { quantile, revokeAll, startFollowed } from './flows/followers/followed.ts';
import { noUses } from './flows/all-uses.ts';
import { failOver, FAULTS, startFailovers, TOPOLOGIES } from './flows/failovers.ts';
import { killAmidUses, KILLED } from './flows/kills.ts';
import {
  failOverPostgres,
  POSTGRES_FAULTS,
  startPostgresServers,
} from './flows/postgres-failovers.ts';
import { simulateRevocation } from './simulation/revocation.ts';
import { startFlowOn, STORE_KINDS, type StoreKind } from './flows/flow.ts';

const KILLS = 1000;
const TREE_KILLS = 400;
const AUDIT_KILLS = 20;
const SCHEDULES = 1000;
const FAILOVERS = 10;
const PROMOTIONS = 5;
const PART_KILLS = 50;
const FOLLOWED = 2_000;
/** Simulated seconds, and the milliseconds between two faults. */
const SIMULATED = [
  { seconds: 3, faults: Infinity },
  { seconds: 10, faults: 500 },
] as const;
/** Requests to each of the two servers. */
const REQUESTS = 100_000;
const TOKEN_REQUESTS = 20_000;

const { values, positionals } = parseArgs({
  options: { store: { type: 'string' } },
  allowPositionals: true,
});
const kinds = STORE_KINDS.filter((kind) => kind === (values.store ?? kind));
/** A token from the beginning must be valid at the end. */
const SETTINGS = { tokens: { lifetime: 86_400 } };

async function crashes(): Promise<void> {
  for (const kind of kinds) {
    const kills = KILLS / STORE_KINDS.length;
    await using flow = await startFlowOn(kind, { resource: 2, settings: SETTINGS });
    const tally = await crash(flow, kills, ({ kills: done }) => {
      if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${kills} kills\n`);
    });
    process.stdout.write(`${kind}: nothing lost. ${JSON.stringify(tally)}\n`);

    await using servers = await startTreeServers(kind);
    const most = TREE_KILLS / STORE_KINDS.length;
    const amidTrees = await crashTrees(servers, most, ({ kills: done }) => {
      if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${most} kills amid trees\n`);
    });
    process.stdout.write(`${kind}: nothing done by half. ${JSON.stringify(amidTrees)}\n`);
  }
}

async function audits(kills = AUDIT_KILLS): Promise<void> {
  for (const kind of kinds) {
    const tally = await crashAudit(kind, kills, ({ kills: done }) => {
      if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${kills} kills\n`);
    });
    process.stdout.write(`${kind}: each change with its event. ${JSON.stringify(tally)}\n`);
  }
}

async function failovers(runs = FAILOVERS): Promise<void> {
  for (const topology of TOPOLOGIES) {
    for (const fault of FAULTS) {
      await using servers = await startFailovers(topology);
      const tally = noUses();
      while (tally.runs < runs) {
        await failOver(servers, fault, tally);
        process.stdout.write(`${topology}, master ${fault}: ${tally.runs} of ${runs}\n`);
      }
      process.stdout.write(
        `${topology}, master ${fault}: nothing lost. ${JSON.stringify(tally)}\n`,
      );
    }
  }
}

async function postgresFailovers(runs = PROMOTIONS): Promise<void> {
  for (const withRedis of [false, true]) {
    for (const fault of POSTGRES_FAULTS) {
      const name = `${withRedis ? 'with' : 'without'} Redis, primary ${fault}`;
      await using servers = await startPostgresServers(withRedis);
      const tally = noUses();
      while (tally.runs < runs) {
        await failOverPostgres(servers, fault, tally);
        process.stdout.write(`${name}: ${tally.runs} of ${runs}\n`);
      }
      process.stdout.write(`${name}: nothing lost. ${JSON.stringify(tally)}\n`);
    }
  }
}

async function partKills(each = PART_KILLS): Promise<void> {
  for (const killed of KILLED) {
    const tally = await killAmidUses(killed, each, (done) =>
      process.stdout.write(`${killed}: ${done} of ${each} kills\n`),
    );
    process.stdout.write(`${killed}: nothing lost. ${JSON.stringify(tally)}\n`);
  }
}

async function caches(seed = 1): Promise<void> {
  for (const kind of kinds) {
    const schedules = SCHEDULES / STORE_KINDS.length;
    const progress = ({ schedules: done }: { schedules: number }) => {
      if (done % 10 === 0) process.stdout.write(`${kind}: ${done} of ${schedules} schedules\n`);
    };
    const tally = await runSchedules(kind, { seed, schedules, progress });
    process.stdout.write(`${kind}: nothing old, nothing by half. ${JSON.stringify(tally)}\n`);
  }
}

/**
 * 0.1 per cent of messages are lost, clocks differ by four per cent, and a fault happens twice a second.
 */
async function revocation(seed = 1): Promise<void> {
  const many = { followers: 1_000, rate: 5_000, loss: 0.001, drift: 0.04 };
  for (const scenario of SIMULATED) {
    const outcome = await simulateRevocation({ seed, ...many, ...scenario });
    process.stdout.write(`${outcome.faults} faults: ${JSON.stringify(outcome)}\n`);
    if (outcome.letIn > 0) throw new Error('a follower took what was revoked');
  }
}

async function followers(revocations = FOLLOWED): Promise<void> {
  for (const kind of kinds) {
    for (const atOnce of [1, 8]) {
      await using followed = await startFollowed(kind, { authz: 2, followers: 4 });
      await revokeAll(followed, { revocations: 1 });
      const { took, said } = await revokeAll(followed, { revocations, atOnce });
      const [median, p99, most] = [0.5, 0.99, 1].map((part) => quantile(took, part).toFixed(1));
      process.stdout.write(
        `${kind}, ${atOnce} at once: none taken. ${JSON.stringify(said)}; acknowledged in ${median} ms (median), ${p99} ms (p99), ${most} ms (most)\n`,
      );
    }
  }
}

/** `compare` rejects for a difference between the two servers, on either store. */
function differential(
  compare: (kind: StoreKind, asking: Differential) => Promise<unknown>,
  requests: number,
): (seed?: number) => Promise<void> {
  return async (seed = 1) => {
    for (const kind of kinds) {
      const progress = (sent: number) => {
        if (sent % 1200 === 0) process.stdout.write(`${kind}: ${sent} requests\n`);
      };
      const alike = await compare(kind, { seed, requests, progress });
      process.stdout.write(`${kind}: no difference. ${JSON.stringify(alike)}\n`);
    }
  };
}

const attacks = (names: readonly string[]) => () =>
  soakExhaustion(names, (line) => process.stdout.write(`${line}\n`));

/** Each part takes the number that follows its name. */
const PARTS: Readonly<Record<string, (number?: number) => Promise<void>>> = {
  crashes,
  audit: audits,
  cache: caches,
  failover: failovers,
  followers,
  kills: partKills,
  'postgres-failover': postgresFailovers,
  revocation,
  'token-ways': differential(compareTokenWays, TOKEN_REQUESTS),
  'two-ways': differential(compareTwoWays, REQUESTS),
  exhaustion: attacks(Object.keys(ATTACKS)),
  ...Object.fromEntries(Object.keys(ATTACKS).map((name) => [name, attacks([name])])),
  fuzz: (seed = 1) => soakFuzz(seed, (line) => process.stdout.write(`${line}\n`)),
};
const [name = 'crashes', number = 'NaN'] = positionals;
const part = PARTS[name];
if (part === undefined) {
  refuse(`There is no part ${name}, only: ${Object.keys(PARTS).join(', ')}.`);
} else if (kinds.length === 0) {
  refuse(`There is no store ${values.store}, only: ${STORE_KINDS.join(', ')}.`);
} else {
  await part(Number.parseInt(number, 10) || undefined);
}

function refuse(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 2;
}

import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openPostgres } from '#shared/stores/postgres/open.ts';
import {
  postgresStore,
  type SharedStore,
  startSharedStore,
} from '#shared/stores/postgres/started.fixture.ts';
import type { PostgresSettings } from '#shared/stores/settings.ts';
import { closedLoop } from '../closed-loop.ts';
import { cpuTime } from '../cpu.ts';
import type { Table } from '../report.ts';

const AT_ONCE = 64;
const FAR = 4_000_000_000_000;

/**
 * The limit of the feed: one PostgreSQL stores all revocations durably before they are acknowledged. Either
 * PostgreSQL answers all questions, or one Redis on one core does.
 */
export async function measureFeed(count: number): Promise<Table> {
  await using shared = await startSharedStore();
  const { postgres, store } = shared;
  const alone = postgresStore([postgres.url], { schema: 'alone' });
  const rows = [
    ...(await measure('PostgreSQL', alone, shared, count)),
    ...(await measure('PostgreSQL, Redis', store, shared, count)),
  ];
  return { title: 'The feed of revocations', rows };
}

async function measure(
  name: string,
  settings: PostgresSettings,
  { postgres, redis }: SharedStore,
  count: number,
) {
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, skew: 5 };
  await using stores = await openPostgres(settings, parts);
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const of = async (work: string, atOnce: number, visit: (n: number) => Promise<unknown>) => {
    let left = count;
    const used = () => [cpuTime(postgres.pid), cpuTime(redis.pid)] as const;
    const before = used();
    const next = () => (left > 0 ? visit(left--).then(() => {}) : undefined);
    const run = await closedLoop(next, atOnce, Infinity);
    const [postgresUs = 0, redisUs = 0] = used().map(
      (after, at) => (after - (before[at] ?? 0)) / run.count,
    );
    return {
      store: name,
      work,
      count: run.count,
      'postgres us': Math.round(postgresUs),
      'redis us': Math.round(redisUs),
      'a second, here': Math.round(run.count / run.seconds),
    };
  };
  const revoke = (n: number) => stores.revocations.revoke('token', `token ${n}`, FAR);
  return [
    await of('revocation', AT_ONCE, revoke),
    await of('question of a process for its verdicts', 1, async () => feed.latest()),
  ];
}

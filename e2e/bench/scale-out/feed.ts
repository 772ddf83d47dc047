import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openRedis } from '#shared/stores/redis/open.ts';
import type { RedisCluster } from '../../parts/redis-cluster.ts';
import { closedLoop } from '../closed-loop.ts';
import { cpuTime } from '../cpu.ts';
import type { Table } from '../report.ts';

const AT_ONCE = 64;
const FAR = 4_000_000_000_000;

/**
 * The bound of the feed: one shard takes all revocations, and Redis runs commands on one core. Each is durable
 * (`appendfsync always`) before it is answered. `pid`: of that one shard.
 */
export async function measureFeed(
  cluster: RedisCluster,
  pid: number,
  count: number,
): Promise<Table> {
  const config = {
    kind: 'redis',
    mode: 'cluster',
    urls: cluster.urls,
    master: '',
    prefix: 'feed',
    replicas: 0,
    deadline: 10,
  } as const;
  const parts = { clock: systemClock, random: systemRandom, log: silentLog, longestLife: 86_400 };
  await using stores = await openRedis(config, parts);
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const of = async (work: string, atOnce: number, visit: (n: number) => Promise<unknown>) => {
    let left = count;
    const before = cpuTime(pid);
    const next = () => (left > 0 ? visit(left--).then(() => {}) : undefined);
    const run = await closedLoop(next, atOnce, Infinity);
    const redis = (cpuTime(pid) - before) / run.count;
    return {
      work,
      count: run.count,
      'redis us': Math.round(redis),
      'a second, of one core of Redis': Math.round(1_000_000 / redis),
      'a second, here': Math.round(run.count / run.seconds),
    };
  };
  const revoke = (n: number) => stores.revocations.revoke('token', `token ${n}`, FAR);
  const rows = [
    await of('revocation', AT_ONCE, revoke),
    await of('question of a process for its verdicts', 1, async () => feed.latest()),
  ];
  return { title: 'The feed of revocations, on one shard', rows };
}

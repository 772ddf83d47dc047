import { startCluster } from '../../parts/redis-cluster.ts';
import type { Redis } from '../../parts/redis.ts';
import { closedLoop } from '../closed-loop.ts';
import { cpuTime } from '../cpu.ts';
import type { Findings } from '../report.ts';
import { SETTINGS } from '../site.ts';
import { round } from '../statistics.ts';
import { startCountersign } from '../targets/countersign.ts';
import { measureFeed } from './feed.ts';
import { type Operation, operationsOf } from './operations.ts';
import { commandsOf, resetShards } from './shards.ts';

const SHARDS = [1, 3, 6];
const PROCESSES = [1, 2, 4];
/** Shards and processes of the quick form. */
const QUICK = [
  [1, 1],
  [3, 2],
  [6, 4],
] as const;
const AT_ONCE = 8;
/** Requests of each operation that are counted, and before them those that warm it up. */
const COUNTED = { whole: 400, quick: 100 };
const WARM = { whole: 100, quick: 20 };

/** Revocations by which the feed is measured. */
const REVOKED = { whole: 40_000, quick: 10_000 };

type Row = Findings['tables'][number]['rows'][number];

/** The cost of each operation on Redis Cluster: commands, CPU time, and the part of the busiest shard. */
export async function measureScaleOut(
  say: (line: string) => void,
  quick: boolean,
): Promise<Findings> {
  const form = quick ? 'quick' : 'whole';
  const all = SHARDS.flatMap((shards) =>
    PROCESSES.map((processes) => [shards, processes] as const),
  );
  const rows: Row[] = [];
  const feed = await feedOfOneShard(REVOKED[form]);
  let errors = 0;
  for (const [shards, processes] of quick ? QUICK : all) {
    say(`${shards} shards, ${processes} processes of each server`);
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await startCluster(shards));
    const [url = ''] = cluster.urls;
    const settings = { store: { kind: 'redis', mode: 'cluster', urls: cluster.urls, replicas: 0 } };
    const pids = await Promise.all(cluster.servers.map(pidOf));
    const store = { settings, url, pid: pids[0] ?? 0 };
    const options = { store, ...(processes > 1 && { workers: processes }) };
    const servers = stack.use(await startCountersign(SETTINGS, options));
    for (const operation of await operationsOf(servers, WARM[form] + COUNTED[form])) {
      const { cost, failed } = await measure(operation, cluster.servers, pids, form);
      rows.push({ shards, processes, operation: operation.name, ...cost, errors: failed });
      errors += failed;
    }
  }
  return {
    tables: [feed, { title: 'An operation on Redis Cluster', rows }],
    notes: [
      'commands: those that the shards ran for one operation, within scripts, too. hottest: the part of them on the',
      'busiest shard. All requests come from one address, and documents are in one tree.',
    ],
    errors,
  };
}

async function feedOfOneShard(count: number) {
  await using cluster = await startCluster(1);
  const pids = await Promise.all(cluster.servers.map(pidOf));
  return await measureFeed(cluster, pids[0] ?? 0, count);
}

const pidOf = async (server: Redis) =>
  Number(/process_id:(\d+)/.exec(await server.cli('INFO', 'server'))?.[1]);

async function measure(
  operation: Operation,
  shards: readonly Redis[],
  pids: readonly number[],
  form: 'quick' | 'whole',
) {
  await visitAll(operation, 0, WARM[form]);
  await resetShards(shards);
  const [ours, theirs] = [cpuTime(...operation.server.pids), cpuTime(...pids)];
  const { count, errors: failed } = await visitAll(operation, WARM[form], COUNTED[form]);
  const cpu = cpuTime(...operation.server.pids) - ours;
  const redis = cpuTime(...pids) - theirs;
  const commands = await commandsOf(shards);
  const sum = commands.reduce((all, some) => all + some, 0);
  const cost = {
    commands: round(sum / count, 1),
    'cpu us': Math.round(cpu / count),
    'redis us': Math.round(redis / count),
    'hottest %': Math.round((100 * Math.max(...commands)) / sum),
  };
  return { cost, failed };
}

/** Sends the requests from that number on, some at a time. */
function visitAll({ server, status, request, answered }: Operation, from: number, count: number) {
  let next = from;
  async function visit(n: number): Promise<void> {
    const { method, path, fields: headers, body } = await request(n);
    const init = {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    } as const;
    const answer = await fetch(server.url + path, init);
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`answered ${answer.status} ${text}`);
    answered?.(text);
  }
  return closedLoop(() => (next < from + count ? visit(next++) : undefined), AT_ONCE, Infinity);
}

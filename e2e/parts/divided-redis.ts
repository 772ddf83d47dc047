/** @needs redis-sentinel */
/** Redis with Sentinel or Cluster, whose servers can be separated from one another. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startProcess, until } from './process.ts';
import { redisCommand } from './redis-commands.ts';
import { startRedis } from './redis.ts';
import type { Redis } from './redis.ts';
import { Sites } from './sites.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A server with its own address, which other servers reach through its relay. */
export interface Site {
  readonly address: string;
  readonly door: number;
  readonly redis: Redis;
}

export interface DividedRedis extends AsyncDisposable {
  /** The store as the configuration names it. */
  readonly store: { readonly mode: 'sentinel' | 'cluster'; readonly urls: string[] };
  readonly sites: Sites;
  /** The master that most servers know; in a Cluster, the master of nearly all keys. */
  master(): Promise<Site>;
  /** The replicas of that master, and its other possible successors. */
  readonly candidates: readonly Site[];
  /** Resolves when both other servers are replicas of the master without a lag. */
  whole(): Promise<void>;
}

const SETTINGS = ['min-replicas-to-write 1', 'min-replicas-max-lag 10', 'repl-timeout 5'];

let networks = 0;

/** Addresses that no other set of this process uses: 127.x.y.1 and so on. */
function addresses(count: number): string[] {
  networks += 1;
  const network = `127.${10 + (process.pid % 200)}.${networks}`;
  return Array.from({ length: count }, (_, site) => `${network}.${site + 1}`);
}

/** A master and two replicas. Each has a sentinel, which is separated together with it. */
export async function startDividedSentinels(): Promise<DividedRedis> {
  await using parts = new AsyncDisposableStack();
  const sites = parts.use(new Sites());
  const candidates: Site[] = [];
  const urls: string[] = [];
  for (const address of addresses(3)) {
    const [first] = candidates;
    const settings = first === undefined ? [] : [`replicaof ${first.address} ${first.door}`];
    candidates.push(await startSite(parts, sites, address, settings));
  }
  const [first] = candidates;
  const sentinels: Sentinel[] = [];
  for (const { address } of candidates) {
    const folder = parts.use(await temporaryFolder());
    const port = await freePort();
    const door = await sites.door(address, port);
    const lines = [
      `bind ${address}`,
      `port ${port}`,
      `bind-source-addr ${address}`,
      `sentinel announce-ip ${address}`,
      `sentinel announce-port ${door}`,
      `sentinel monitor mymaster ${first?.address} ${first?.door} 2`,
      'sentinel down-after-milliseconds mymaster 5000',
      'sentinel failover-timeout mymaster 10000',
    ];
    await writeFile(join(folder.path, 'sentinel.conf'), `${lines.join('\n')}\n`);
    const ask = (...args: readonly string[]) => cli(address, port, args);
    parts.use(
      await startProcess('redis-sentinel', ['sentinel.conf'], {
        cwd: folder.path,
        ready: async () => (await ask('PING')) === 'PONG',
      }),
    );
    sentinels.push(ask);
    urls.push(`redis://${address}:${door}`);
  }
  const owned = parts.move();
  const set: DividedRedis = {
    store: { mode: 'sentinel', urls },
    sites,
    candidates,
    async master() {
      const named = await Promise.all(
        sentinels.map((ask) => ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster')),
      );
      const most = candidates.find(
        ({ address }) => named.filter((name) => name.startsWith(`${address}\n`)).length > 1,
      );
      if (most === undefined) throw new Error('no majority of the sentinels names a master');
      return most;
    },
    async whole() {
      const known = async () => {
        const states = await Promise.all(
          sentinels.map((ask) => ask('SENTINEL', 'MASTER', 'mymaster')),
        );
        return states.every(
          (state) =>
            /flags\nmaster\n/.test(state) &&
            /num-slaves\n2\n/.test(state) &&
            /num-other-sentinels\n2\n/.test(state),
        );
      };
      await until(async () => (await follow(set)) && (await known()));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  await set.whole();
  return set;
}

type Sentinel = (...args: readonly string[]) => Promise<string>;

/**
 * Three masters, the minimum for a vote. One has two replicas and nearly all slots; the other two have one
 * replica and one slot each.
 */
export async function startDividedCluster(): Promise<DividedRedis> {
  await using parts = new AsyncDisposableStack();
  const sites = parts.use(new Sites());
  const nodes: (Site & { readonly bus: number })[] = [];
  for (const address of addresses(7)) {
    const inside = await freePort();
    const bus = await sites.door(address, inside);
    const settings = [
      'cluster-enabled yes',
      `cluster-port ${inside}`,
      `cluster-announce-ip ${address}`,
      `cluster-announce-bus-port ${bus}`,
      'cluster-node-timeout 5000',
      'cluster-replica-no-failover no',
      'cluster-migration-barrier 10',
    ];
    const door = 'cluster-announce-port';
    nodes.push({ ...(await startSite(parts, sites, address, settings, door)), bus });
  }
  const [a, b, c, ...replicas] = nodes;
  if (a === undefined || b === undefined || c === undefined) throw new Error('no nodes');
  for (const [index, [node, slots]] of (
    [
      [a, ['0', '16381']],
      [b, ['16382', '16382']],
      [c, ['16383', '16383']],
    ] as const
  ).entries()) {
    await node.redis.cli('CLUSTER', 'ADDSLOTSRANGE', ...slots);
    await node.redis.cli('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
  }
  for (const { address, door, bus } of nodes) {
    await a.redis.cli('CLUSTER', 'MEET', address, `${door}`, `${bus}`);
  }
  const knowAll = async (node: Site) =>
    (await node.redis.cli('CLUSTER', 'INFO')).includes('cluster_known_nodes:7');
  await until(async () => (await Promise.all(nodes.map(knowAll))).every(Boolean));
  for (const [replica, master] of [
    [replicas[0], a],
    [replicas[1], a],
    [replicas[2], b],
    [replicas[3], c],
  ] as const) {
    await replica?.redis.cli('CLUSTER', 'REPLICATE', await master.redis.cli('CLUSTER', 'MYID'));
  }
  const candidates = [a, ...replicas.slice(0, 2)];
  const owned = parts.move();
  const set: DividedRedis = {
    store: {
      mode: 'cluster',
      urls: nodes.map(({ address, door }) => `redis://${address}:${door}`),
    },
    sites,
    candidates,
    async master() {
      const named = await b.redis.cli('CLUSTER', 'NODES');
      const line = named.split('\n').find((node) => / 0-1638\d/.test(node));
      const master = candidates.find(({ address, door }) => line?.includes(`${address}:${door}@`));
      if (master === undefined) throw new Error(`nobody owns the slots: ${named}`);
      return master;
    },
    async whole() {
      const well = async (node: Site) => {
        const info = await node.redis.cli('CLUSTER', 'INFO');
        const known = await node.redis.cli('CLUSTER', 'NODES');
        return info.includes('cluster_state:ok') && !known.includes('fail');
      };
      await until(
        async () => (await follow(set)) && (await Promise.all(nodes.map(well))).every(Boolean),
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  await set.whole();
  return set;
}

async function startSite(
  parts: AsyncDisposableStack,
  sites: Sites,
  address: string,
  settings: readonly string[],
  announced = 'replica-announce-port',
): Promise<Site> {
  const inside = await freePort();
  const door = await sites.door(address, inside);
  const all = [
    ...SETTINGS,
    `bind-source-addr ${address}`,
    `replica-announce-ip ${address}`,
    `${announced} ${door}`,
    ...settings,
  ];
  const redis = await startRedis({ host: address, port: inside, appendonly: true, settings: all });
  return { address, door, redis: parts.use(redis) };
}

/** Whether two replicas follow the master without a lag. */
async function follow(set: DividedRedis): Promise<boolean> {
  const master = await set.master();
  const info = await master.redis.cli('INFO', 'replication');
  const online = info.match(/^slave\d+:.*state=online.*lag=[01]/gm) ?? [];
  return info.includes('role:master') && online.length === 2;
}

async function cli(host: string, port: number, args: readonly string[]): Promise<string> {
  return redisCommand({ host, port }, args);
}

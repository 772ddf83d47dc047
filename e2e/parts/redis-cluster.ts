import { freePort } from './free-port.ts';
import { until } from './process.ts';
import { startRedis } from './redis.ts';
import type { Redis } from './redis.ts';

export interface RedisCluster extends AsyncDisposable {
  readonly urls: string[];
  /** Masters with equal parts of the slots. */
  readonly servers: readonly Redis[];
  /** The master that owns the slot of a key. */
  ownerOf(key: string): Promise<Redis>;
  /**
   * Moves the slot of a key with its content to another master, that key first; `amid` runs after each
   * step.
   */
  moveSlotOf(key: string, amid?: () => Promise<unknown>): Promise<void>;
  /** Gives each master a replica; a master then requires its replica for writes. */
  replicate(): Promise<void>;
}

const SLOTS = 16_384;

/** Starts a Cluster of masters without replicas. */
export async function startCluster(masters = 3): Promise<RedisCluster> {
  await using parts = new AsyncDisposableStack();
  const servers: Redis[] = [];
  async function begin(stack: AsyncDisposableStack) {
    const bus = await freePort();
    const settings = ['cluster-enabled yes', `cluster-port ${bus}`];
    const server = stack.use(await startRedis({ appendonly: true, settings }));
    const meet = () => servers[0]?.cli('CLUSTER', 'MEET', '127.0.0.1', `${server.port}`, `${bus}`);
    return { server, meet };
  }
  for (let index = 0; index < masters; index += 1) {
    const first = Math.round((index * SLOTS) / masters);
    const last = Math.round(((index + 1) * SLOTS) / masters) - 1;
    const { server, meet } = await begin(parts);
    await server.cli('CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${last}`);
    await server.cli('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
    await meet();
    servers.push(server);
  }
  const [first] = servers;
  if (first === undefined) throw new Error('no server was started');
  await until(async () => {
    const states = await Promise.all(servers.map((server) => server.cli('CLUSTER', 'INFO')));
    const isWhole = new RegExp(`cluster_state:ok[^]*cluster_known_nodes:${masters}\\b`);
    return states.every((state) => isWhole.test(state));
  });
  const ownerOf = async (key: string) => {
    for (const server of servers) {
      if (!(await server.cli('EXISTS', key)).startsWith('MOVED')) return server;
    }
    throw new Error(`no master owns the slot of ${key}`);
  };
  const owned = parts.move();
  return {
    urls: servers.map((server) => server.url),
    servers,
    ownerOf,
    async moveSlotOf(key, amid) {
      const from = await ownerOf(key);
      const to = servers.find((server) => server !== from) ?? first;
      const slot = await from.cli('CLUSTER', 'KEYSLOT', key);
      const taker = await to.cli('CLUSTER', 'MYID');
      await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await from.cli('CLUSTER', 'MYID'));
      await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', taker);
      for (let one = key; one !== ''; one = await from.cli('CLUSTER', 'GETKEYSINSLOT', slot, '1')) {
        await from.cli('MIGRATE', '127.0.0.1', `${to.port}`, one, '0', '5000');
        await amid?.();
      }
      for (const server of [to, ...servers]) {
        await server.cli('CLUSTER', 'SETSLOT', slot, 'NODE', taker);
      }
    },
    async replicate() {
      for (const master of servers) {
        const { server, meet } = await begin(owned);
        await meet();
        const id = await master.cli('CLUSTER', 'MYID');
        await until(async () => (await server.cli('CLUSTER', 'REPLICATE', id)) === 'OK');
        await until(async () => (await master.cli('WAIT', '1', '1000')) === '1');
        await master.cli('CONFIG', 'SET', 'min-replicas-to-write', '1');
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

import type { RedisConfig } from '#shared/config/schema.ts';
import { connect, connectCluster } from './connect.ts';
import { masterBySentinels } from './sentinels.ts';

/**
 * An open connection. `key` says which server a command is for; a plain connection knows only one.
 * It is never repaired: after an error its owner opens another.
 */
export interface Wire {
  /** False once the other side has closed it. */
  readonly open: boolean;
  send<T>(key: string, command: readonly string[]): Promise<T>;
}

/** How the servers of one mode are reached. What is opened lives until `life` is aborted. */
export interface Topology {
  /** For commands of all keys. */
  shared(life: AbortSignal): Promise<Wire>;
  /** To the master that owns `key` and to no other: for what blocks its connection. */
  dedicated(key: string, life: AbortSignal): Promise<Wire>;
  /** One to each master. */
  masters(life: AbortSignal): Promise<readonly Wire[]>;
}

/** Milliseconds between two questions to the sentinels whether the master is still the master. */
const WATCH = 1000;

/** The servers of a configuration. `deadline`: milliseconds for an answer of the sentinels. */
export function topologyOf(config: RedisConfig, deadline?: number): Topology {
  return topologies[config.mode](config, deadline);
}

const topologies: Record<
  RedisConfig['mode'],
  (config: RedisConfig, deadline?: number) => Topology
> = {
  single: ({ urls }) => oneMaster(async (life) => wireOf(await connect(urls[0] ?? '', life))),

  sentinel: ({ urls, master }, deadline) =>
    oneMaster(async (life) => {
      const url = await masterBySentinels(urls, master, deadline);
      const deposed = new AbortController();
      const wire = wireOf(await connect(url, AbortSignal.any([life, deposed.signal])));
      const [role] = await wire.send<[string]>('', ['ROLE']);
      if (role !== 'master') throw new Error(`the sentinels name a ${role} as the master`);
      // A master that was cut off from the others goes on answering; the sentinels know better.
      const watch = setInterval(() => {
        void masterBySentinels(urls, master, deadline).then(
          (named) => named !== url && deposed.abort(),
          () => {},
        );
      }, WATCH).unref();
      life.addEventListener('abort', () => clearInterval(watch), { once: true });
      return wire;
    }),

  cluster: ({ urls }) => ({
    async shared(life) {
      const cluster = await connectCluster(urls, life);
      return {
        get open() {
          return cluster.masters.every(({ client }) => client?.isOpen !== false);
        },
        send: (key, command) => cluster.sendCommand(key, false, [...command]),
      };
    },
    async dedicated(key, life) {
      const cluster = await connectCluster(urls, life);
      return wireOf(await cluster.getNodeClientForKey(key));
    },
    async masters(life) {
      const cluster = await connectCluster(urls, life);
      const clients = cluster.masters.map((master) => cluster.nodeClient(master));
      return (await Promise.all(clients)).map(wireOf);
    },
  }),
};

function oneMaster(open: (life: AbortSignal) => Promise<Wire>): Topology {
  return {
    shared: open,
    dedicated: (_key, life) => open(life),
    masters: async (life) => [await open(life)],
  };
}

function wireOf(client: Pick<Awaited<ReturnType<typeof connect>>, 'isOpen' | 'sendCommand'>): Wire {
  return {
    get open() {
      return client.isOpen;
    },
    send: (_key, command) => client.sendCommand([...command]),
  };
}

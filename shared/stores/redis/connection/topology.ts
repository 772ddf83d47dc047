import type { RedisSettings } from '../../settings.ts';
import { connect, connectCluster } from './connect.ts';
import { Sentinels } from './sentinels.ts';

/** An open connection. `key` selects the server in a Cluster. After an error, open another connection. */
export interface Wire {
  /** False after the server has closed the connection. */
  readonly open: boolean;
  send<T>(key: string, command: readonly string[]): Promise<T>;
  /** Returns the connection to the master that owns `key`, the same each time: for commands that block a connection. */
  owner(key: string): Promise<Wire>;
  /** Returns the connection to the master that a redirection names; undefined: unknown. The command had no effect. */
  redirected?(error: unknown, key: string): Promise<Wire | undefined>;
}

/** Connects to the servers of one mode, until `life` is aborted. */
export interface Topology {
  /** Opens a connection for commands of all keys. */
  shared(life: AbortSignal): Promise<Wire>;
  /** Opens a connection to each master. */
  masters(life: AbortSignal): Promise<readonly Wire[]>;
}

export interface Patience {
  /** Milliseconds for any answer. */
  readonly deadline: number;
  /** Milliseconds of a clock that no program sets. */
  monotonic(): number;
}

/** Returns the topology of a configuration. */
export function topologyOf(config: RedisSettings, patience: Patience): Topology {
  return topologies[config.mode](config, patience);
}

const topologies: Record<
  RedisSettings['mode'],
  (config: RedisSettings, patience: Patience) => Topology
> = {
  single: ({ urls }, { deadline: connectTimeout }) =>
    oneMaster(async (life) => wireOf(await connect(urls[0] ?? '', life, { connectTimeout }))),

  sentinel: ({ urls, master: name }, patience) => {
    const sentinels = new Sentinels({ urls, name, ...patience });
    return oneMaster(async (life) => {
      let url: string | undefined;
      const deposed = new AbortController();
      // A master that was cut off still answers. The sentinels know that it was replaced.
      sentinels.follow(life, (named) => {
        if (url !== undefined && url !== named) deposed.abort();
      });
      const master = await sentinels.master();
      url = master;
      const client = await connect(master, AbortSignal.any([life, deposed.signal]), {
        connectTimeout: patience.deadline,
      });
      const [role] = await client.sendCommand<[string]>(['ROLE']);
      if (role !== 'master') throw new Error(`the sentinels name a ${role} as the master`);
      return wireOf(client, async <T>(of: PlainClient, command: string[]) => {
        const reply = await of.sendCommand<T>(command);
        // The answer is valid only if this resolves.
        await sentinels.confirm(master);
        return reply;
      });
    });
  },

  cluster: ({ urls }, { deadline }) => ({
    async shared(life) {
      const cluster = await connectCluster(urls, life, deadline);
      const owners = new WeakMap<PlainClient, Wire>();
      const takers = new WeakMap<PlainClient, Wire>();
      const known = (client: PlainClient, wires: typeof owners, ask?: Ask) => {
        const wire = wires.get(client) ?? wireOf(client, ask);
        wires.set(client, wire);
        return wire;
      };
      const wire: Wire = {
        get open() {
          return cluster.masters.every(({ client }) => client?.isOpen !== false);
        },
        send: (key, command) => cluster.sendCommand(key, false, [...command]),
        owner: async (key) => known(await cluster.getNodeClientForKey(key), owners),
        async redirected(error, key) {
          const [, why, address] = REDIRECTION.exec(String(error)) ?? [];
          if (why === 'MOVED') {
            // The library follows the redirection, and knows the new owner afterwards.
            await wire.send(key, ['EXISTS', key]);
            return wire.owner(key);
          }
          const taker = cluster.masters.find((master) => master.address === address);
          return taker && known(await cluster.nodeClient(taker), takers, asking);
        },
      };
      return wire;
    },
    async masters(life) {
      const cluster = await connectCluster(urls, life, deadline);
      const clients = cluster.masters.map((master) => cluster.nodeClient(master));
      return (await Promise.all(clients)).map((client) => wireOf(client));
    },
  }),
};

function oneMaster(open: (life: AbortSignal) => Promise<Wire>): Topology {
  return { shared: open, masters: async (life) => [await open(life)] };
}

type PlainClient = Pick<Awaited<ReturnType<typeof connect>>, 'isOpen' | 'sendCommand'>;

/** The answer of a Cluster's server if another server owns or takes the slot. */
const REDIRECTION = /\b(MOVED|ASK) \d+ (\S+)$/;

type Ask = <T>(client: PlainClient, command: string[]) => Promise<T>;

/** A server that takes a slot answers commands after ASKING. No other command may come in between. */
const asking: Ask = async <T>(client: PlainClient, command: string[]) => {
  const sent = [client.sendCommand(['ASKING']), client.sendCommand<T>(command)] as const;
  return (await Promise.all(sent))[1];
};

function wireOf(client: PlainClient, ask: Ask = (of, command) => of.sendCommand(command)): Wire {
  const wire: Wire = {
    get open() {
      return client.isOpen;
    },
    send: (_key, command) => ask(client, [...command]),
    owner: async () => wire,
  };
  return wire;
}

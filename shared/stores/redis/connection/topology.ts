import type { RedisSettings } from '../../settings.ts';
import { connect, connectCluster } from './connect.ts';
import { Sentinels } from './sentinels.ts';

/**
 * An open connection. `key` says which server a command is for; a plain connection knows only one.
 * It is never repaired: after an error its owner opens another.
 */
export interface Wire {
  /** False once the other side has closed it. */
  readonly open: boolean;
  send<T>(key: string, command: readonly string[]): Promise<T>;
  /** Returns the wire to the master that owns `key`, the same each time: for commands that block their connection. */
  owner(key: string): Promise<Wire>;
  /**
   * Returns the wire to the master that an owner's error names, of a Cluster whose slot of `key` moves or has moved; undefined:
   * it names none that is known. It has done nothing by then.
   */
  redirected?(error: unknown, key: string): Promise<Wire | undefined>;
}

/** The way to reach the servers of one mode. Connections live until `life` is aborted. */
export interface Topology {
  /** For commands of all keys. */
  shared(life: AbortSignal): Promise<Wire>;
  /** One to each master. */
  masters(life: AbortSignal): Promise<readonly Wire[]>;
}

export interface Patience {
  /** Milliseconds for any answer. */
  readonly deadline: number;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
}

/** The servers of a configuration. */
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
      // A master that was cut off from the others goes on answering; the sentinels know better.
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
        // The answer counts only then.
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
            // The library follows it, and knows the new owner from then on.
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

/** As a server of a Cluster answers what another one has by now, or has begun to take. */
const REDIRECTION = /\b(MOVED|ASK) \d+ (\S+)$/;

type Ask = <T>(client: PlainClient, command: string[]) => Promise<T>;

/** A server that takes a slot answers what is announced so. Nothing comes between the two on a connection. */
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

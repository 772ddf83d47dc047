import { createClient, createCluster, RedisClient } from 'redis';

/** What each connection is opened with: plain replies, no queue while it is down, no repair. */
const plain = {
  RESP: 2,
  disableOfflineQueue: true,
  commandsQueueMaxLength: 10_000,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const;

const socket = { connectTimeout: 1000, reconnectStrategy: false } as const;

/** Milliseconds after which the next node of a cluster is asked where the slots are. */
const DISCOVERY = 300;

/** A connection to one server, open until `life` is aborted. */
export async function connect(url: string, life: AbortSignal) {
  const client = createClient({ ...plain, url: named(url).href, socket: { ...socket } });
  return opened(client, life);
}

/** Connections to the masters of a Cluster, opened as they are needed; redirections are followed. */
export async function connectCluster(urls: readonly string[], life: AbortSignal) {
  const login = RedisClient.parseURL(named(urls[0] ?? '').href);
  const cluster = createCluster({
    RESP: plain.RESP,
    minimizeConnections: true,
    rootNodes: urls.map((url) => ({
      url: named(url).href,
      socket: { ...socket, socketTimeout: DISCOVERY },
    })),
    defaults: {
      ...plain,
      ...(login.credentialsProvider && { credentialsProvider: login.credentialsProvider }),
      socket: { ...socket, ...(login.socket.tls && { tls: true }) },
    },
  });
  return opened(cluster, life);
}

interface Client<Self> {
  on(event: 'error' | 'node-error', listener: (error: Error) => void): unknown;
  connect(): Promise<Self>;
  destroy(): void;
}

async function opened<C extends Client<C>>(client: C, life: AbortSignal): Promise<C> {
  // Each command reports the error that meets it.
  client.on('error', () => {});
  life.throwIfAborted();
  life.addEventListener('abort', () => client.destroy(), { once: true });
  return client.connect();
}

/** The same server with a user name: `AUTH default x` is accepted where no password is set, `AUTH x` is not. */
function named(url: string): URL {
  const server = new URL(url);
  if (server.password !== '' && server.username === '') server.username = 'default';
  return server;
}

import { RedisClient, RedisCluster } from 'redis';
import { notOpened } from './plain.ts';

/** Options of each connection: plain replies, no queue and no reconnection. */
const plain = {
  RESP: 2,
  disableOfflineQueue: true,
  commandsQueueMaxLength: 10_000,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const;

/** The link has a deadline for each command. A timeout of the client would cost a signal for each. */
const commandOptions = { timeout: 0 } as const;

const socket = { reconnectStrategy: false } as const;

/** The share of the deadline after which the next node of a cluster is asked for the slots. */
const DISCOVERY = 0.3;

/** `connectTimeout`: milliseconds. */
export interface ConnectOptions {
  readonly RESP?: 2 | 3;
  readonly connectTimeout: number;
}

/** Opens a connection to one server, until `life` is aborted. `createClient` would take 0.1 s to make a class. */
export async function connect(
  url: string,
  life: AbortSignal,
  { RESP = plain.RESP, connectTimeout }: ConnectOptions,
) {
  const client = new RedisClient({
    ...plain,
    commandOptions,
    RESP,
    url: named(url).href,
    socket: { ...socket, connectTimeout },
  });
  return opened(client, life).catch((error: unknown) => {
    throw notOpened(url, error);
  });
}

/** Opens connections to the masters of a Cluster when needed, and follows redirections. `deadline`: milliseconds. */
export async function connectCluster(urls: readonly string[], life: AbortSignal, deadline: number) {
  const timed = { ...socket, connectTimeout: deadline };
  const login = RedisClient.parseURL(named(urls[0] ?? '').href);
  const cluster = new RedisCluster({
    RESP: plain.RESP,
    commandOptions,
    minimizeConnections: true,
    rootNodes: urls.map((url) => ({
      url: named(url).href,
      socket: { ...timed, socketTimeout: DISCOVERY * deadline },
    })),
    defaults: {
      ...plain,
      ...(login.credentialsProvider && { credentialsProvider: login.credentialsProvider }),
      socket: { ...timed, ...(login.socket.tls && { tls: true }) },
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
  // Each command reports its own error. But the error of a cluster without nodes lacks the cause, which is the last
  // event.
  let last: Error | undefined;
  client.on('error', (error) => (last = error));
  life.throwIfAborted();
  life.addEventListener('abort', () => client.destroy(), { once: true });
  return client.connect().catch((error: Error) => {
    if (last === undefined || last === error) throw error;
    throw new Error(`${error.message}: ${last.message}`, { cause: error });
  });
}

/** Adds the user `default` to a password: a server without a password accepts `AUTH default x`, but not `AUTH x`. */
function named(url: string): URL {
  const server = new URL(url);
  if (server.password !== '' && server.username === '') server.username = 'default';
  return server;
}

import { RedisClient, RedisCluster } from 'redis';
import { notOpened } from './plain.ts';

/** The options of each connection: plain replies, no queue while it is down, no repair. */
const plain = {
  RESP: 2,
  disableOfflineQueue: true,
  commandsQueueMaxLength: 10_000,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const;

/** The link has a deadline for all that it does; the client's own costs a signal for each command. */
const commandOptions = { timeout: 0 } as const;

const socket = { reconnectStrategy: false } as const;

/** After this part of the deadline the next node of a cluster is asked where the slots are. */
const DISCOVERY = 0.3;

/** `connectTimeout` in milliseconds. */
export interface ConnectOptions {
  readonly RESP?: 2 | 3;
  readonly connectTimeout: number;
}

/**
 * A connection to one server, which sends what it is given: `createClient` of the library would make for each
 * a class with a method for every command, in 0.1 s. Open until `life` is aborted.
 */
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

/**
 * Connections to the masters of a Cluster, opened as they are needed; redirections are followed.
 * `deadline`: milliseconds for all of it.
 */
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
  // Each command reports the error that meets it; the connection to a cluster does not say why it met none of its nodes.
  let last: Error | undefined;
  client.on('error', (error) => (last = error));
  life.throwIfAborted();
  life.addEventListener('abort', () => client.destroy(), { once: true });
  return client.connect().catch((error: Error) => {
    if (last === undefined || last === error) throw error;
    throw new Error(`${error.message}: ${last.message}`, { cause: error });
  });
}

/** The same server with a user name: `AUTH default x` is accepted where no password is set, `AUTH x` is not. */
function named(url: string): URL {
  const server = new URL(url);
  if (server.password !== '' && server.username === '') server.username = 'default';
  return server;
}

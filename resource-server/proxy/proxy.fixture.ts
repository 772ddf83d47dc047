import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import type { Standing } from '#shared/auth/standing/standing.ts';
import { NEVER_ENDS } from '#shared/auth/standing/standing.fixture.ts';
import { PROXY, type ProtectionSpace, type Scheme } from '#shared/auth/scheme.ts';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import type { ProxyConfig } from '#shared/config/schema.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { jsonLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen, type Listening, type ServerLimits } from '#shared/server/listen/listen.ts';
import type { Certificate } from '#shared/server/listen/versions.ts';
import type { Listener } from '#shared/client/destinations/destinations.ts';
import { type Network, systemNetwork } from './network.ts';
import { createProxy } from './proxy.ts';
import { errorsOf } from '../pages/errors.fixture.ts';

export const CREDENTIALS = `Basic ${Buffer.from('alice:secret').toString('base64')}`;
/** The field line with valid credentials. */
export const ALICE = `Proxy-Authorization: ${CREDENTIALS}\r\n`;

const parts: AsyncDisposable[] = [];

/** Stops everything that was started since the last call. */
export async function stopAll(): Promise<void> {
  for (const part of parts.splice(0).toReversed()) await part[Symbol.asyncDispose]();
}

/** Basic (RFC 7617) for alice, whose password is `secret`. */
export const alone: Scheme = {
  name: 'Basic',
  challenge: () => [{ scheme: 'Basic', params: { realm: 'proxy' } }],
  authenticate: ({ token68 }) =>
    `Basic ${token68}` === CREDENTIALS
      ? { kind: 'granted', principal: { kind: 'person', realm: 'proxy', name: 'alice' } }
      : { kind: 'refused', refusal: 'other-scheme', reason: 'wrong password' },
};

export interface ProxyOptions extends Partial<
  Pick<ProxyConfig, 'destinations' | 'tunnels' | 'idle' | 'total'>
> {
  readonly schemes?: readonly Scheme[];
  readonly network?: Partial<Network>;
  readonly self?: readonly Listener[];
  readonly certificate?: Certificate;
  readonly limits?: Partial<ServerLimits>;
  readonly standing?: Standing;
  readonly clock?: Clock;
}

export interface RunningProxy {
  readonly listening: Listening;
  readonly port: number;
  /** The log lines. */
  readonly lines: Record<string, unknown>[];
}

/** Starts a proxy as the resource server opens it, for alice. */
export async function startProxy(options: ProxyOptions = {}): Promise<RunningProxy> {
  const { destinations = [], tunnels = 40, idle = 20, total = 60, schemes = [alone] } = options;
  const lines: Record<string, unknown>[] = [];
  const log = jsonLog((line) => void lines.push(JSON.parse(line)), systemClock, 'test');
  const space: ProtectionSpace = { at: PROXY, realm: 'proxy', schemes, scopes: () => [] };
  const { handler, tunnel } = createProxy({
    config: {
      realm: 'proxy',
      schemes: ['Basic'],
      digest: DIGEST,
      mutual: { algorithm: 'iso-kam3-ec-p256-sha256' },
      concealed: { frontend: false },
      destinations,
      tunnels,
      idle,
      total,
    },
    space,
    recipient: { at: PROXY, proxies: trustedProxies([]), local: true },
    origin: 'http://proxy.example:3128',
    self: () => options.self ?? [],
    network: { ...systemNetwork, ...options.network },
    standing: options.standing ?? NEVER_ENDS,
    log,
    errors: errorsOf(log),
    clock: options.clock ?? systemClock,
    random: systemRandom,
  });
  const { certificate, limits = {} } = options;
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    tunnel,
    http2: { handler, certificate },
    log,
    limits,
  });
  parts.push(listening);
  return { listening, port: listening.port, lines };
}

const DIGEST: ProxyConfig['digest'] = { algorithms: ['SHA-256'], qop: ['auth'], userhash: false };

async function started(server: Server, sockets: Set<Socket>): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  parts.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return (server.address() as AddressInfo).port;
}

/** Starts an origin server and resolves to its port. */
export function startOrigin(listener: RequestListener): Promise<number> {
  const server: HttpServer = createServer(listener);
  return started(server, new Set());
}

/** Starts a TCP server, for example of broken HTTP. Resolves to its port and its open connections. */
export async function startTcp(
  serve: (socket: Socket) => void,
  { allowHalfOpen = false } = {},
): Promise<{ readonly port: number; readonly sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer({ allowHalfOpen }, serve);
  return { port: await started(server, sockets), sockets };
}

/** Resolves when a number has grown and then no longer grows. */
export async function stalled(figure: () => number): Promise<void> {
  for (let before = -1; figure() === 0 || figure() !== before;) {
    before = figure();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Resolves when the condition is true. Rejects after ten seconds. */
export async function until(question: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!question()) {
    if (performance.now() > end) throw new Error(`not within ten seconds: ${String(question)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

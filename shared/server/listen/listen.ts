import cluster from 'node:cluster';
import type { Server } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { type Random, systemRandom } from '#shared/base/random.ts';
import { WORKERS } from '#shared/base/workers.ts';
import type { TrustedProxies } from '#shared/http/forwarded.ts';
import { Admission } from '../limits/admission.ts';
import { Connections } from '../limits/connections.ts';
import { type Handler, http1Server } from '../http1/http1.ts';
import { http2Server } from '../http2/http2.ts';
import { LastRequests } from '../http1/last-requests.ts';
import type { AnyHandler } from '../message/message.ts';
import { Pace } from '../limits/pace.ts';
import { type RefusalAt, refusalMessage, refused, TOO_MANY } from '../message/connection-error.ts';
import { LIMITS, type ServerLimits } from '#shared/config/server-limits.ts';
import type { TunnelHandler } from '../tunnels/tunnel.ts';
import { type Versions, versionsFront } from './versions.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

export type { Handler } from '../http1/http1.ts';
export type { ServerLimits } from '#shared/config/server-limits.ts';

export interface Listening extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  /** The server of HTTP/1.1. */
  readonly server: Server;
  /** The admission that further listeners of the process share. */
  readonly admission: Admission;
  /**
   * Stops accepting connections, and lets requests finish that are in flight or arrive within a moment. Destroys the
   * remaining connections, tunnels included, after `graceMs` milliseconds. Resolves when no connection is left.
   */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
  /** Handles CONNECT; without it CONNECT is 501. */
  readonly tunnel?: TunnelHandler;
  /** True if clients that `tunnel` does not admit must not notice that the server has tunnels. */
  readonly seemsNone?: boolean;
  /**
   * If true, a WebSocket handshake has an `Upgrade` (tunnels/upgrade.ts). The handler opens it, or answers the request
   * like any other. Over HTTP/2 clients use extended CONNECT (RFC 8441).
   */
  readonly webSockets?: boolean;
  /** Serves HTTP/2, too, and TLS if a certificate is given. */
  readonly http2?: { readonly handler: AnyHandler } & Pick<Versions, 'certificate' | 'resumption'>;
  /** Each worker has its own port, at which the other workers do not answer. */
  readonly ofProcess?: true;
  /**
   * Changes refusals that are sent before a handler sees the request, by the request's address; default: unchanged.
   */
  readonly refusalAt?: RefusalAt | undefined;
  readonly log: Log;
  readonly limits?: Partial<ServerLimits>;
  /** Proxies whose connections use up only the total; default: none. */
  readonly trusted?: TrustedProxies;
  /** The admission of the first listener of the process; default: a new one with the limits. */
  readonly admission?: Admission;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Serves HTTP on a TCP port; 0 chooses a free port. Rejects with the system's error, whose `code` is for example
 * EADDRINUSE. The handler gets only requests that can be read in one way and whose target is not too long.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const {
    host,
    port,
    handler,
    tunnel,
    seemsNone,
    webSockets = false,
    refusalAt,
    log,
    clock = systemClock,
    random = systemRandom,
  } = options;
  const limit = { ...LIMITS, ...options.limits };
  const trusted = options.trusted ?? { has: () => false };
  const admission = options.admission ?? new Admission(limit.connections, trusted);
  const connections = new Connections(admission);
  const pace = new Pace(limit.pace);
  const lasts = new LastRequests();
  const ending = new AbortController();
  const { signal } = ending;
  const common = {
    tunnel,
    seemsNone,
    webSockets,
    refusalAt,
    ending: signal,
    limit,
    pace,
    log,
    clock,
    random,
  };
  const besideHttp2 = options.http2 !== undefined;
  const http1 = http1Server({ ...common, handler, connections, lasts, besideHttp2 });
  const http2 =
    options.http2 && http2Server({ ...common, admission, handler: options.http2.handler });
  const { certificate, resumption } = options.http2 ?? {};
  const front = versionsFront({
    http1,
    http2: http2?.server,
    lasts,
    certificate,
    resumption,
    patience: limit.headersTimeout,
    log,
    clock,
    random,
  });
  function turnAway(socket: Socket, reason: string): void {
    const told = refused(TOO_MANY, random);
    log.info('refused', { id: told.id, reason, address: socket.remoteAddress });
    socket.on('error', () => {});
    if (certificate === undefined) socket.write(refusalMessage(told, clock));
    socket.destroySoon();
  }

  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const reason = admission.refusal(socket);
    if (reason === undefined) front.server.emit('connection', socket);
    else turnAway(socket, reason);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Workers share their parent's listener, so that a successor can replace a worker. A process that is no worker
    // has its own listener. A worker with port 0 has its own listener, too: otherwise node:cluster would share the
    // listener with the other server.
    const exclusive = options.ofProcess ?? (!cluster.isWorker || (port === 0 && WORKERS === 1));
    const backlog = limit.connections.total;
    server.listen({ port, host, backlog, exclusive }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  http1.emit('listening'); // starts the checks of its timeouts
  const bound = server.address() as AddressInfo;

  let closed: Promise<void> | undefined;
  async function shut(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    ending.abort();
    for (const part of [front, connections, http2]) part?.close();
    const timer = setTimeout(() => {
      for (const part of [connections, http2, front]) part?.destroy();
    }, graceMs);
    await promise;
    clearTimeout(timer);
    pace[Symbol.dispose]();
    http2?.[Symbol.dispose]();
    http1.close(); // stops the checks of its timeouts
  }
  const close = (graceMs: number) => (closed ??= shut(graceMs));

  return {
    address: bound.address,
    port: bound.port,
    server: http1,
    admission,
    close,
    [Symbol.asyncDispose]: () => close(0),
  };
}

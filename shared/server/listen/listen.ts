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
  /** Serves HTTP/1.1. */
  readonly server: Server;
  /** For further listeners of the process. */
  readonly admission: Admission;
  /**
   * Stops accepting, lets requests finish that are in flight or come within a moment, and destroys what is
   * left after `graceMs` milliseconds, tunnels among it. Resolves when no connection is left.
   */
  close(graceMs: number): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: Handler;
  /** Takes CONNECT, which is 501 without it. */
  readonly tunnel?: TunnelHandler;
  /** Nobody but those whom `tunnel` lets in may tell that there are tunnels. */
  readonly seemsNone?: boolean;
  /**
   * Handshakes for a WebSocket have an `Upgrade` (tunnels/upgrade.ts), which the handler opens, or answers them like any other
   * request; over HTTP/2 there is extended CONNECT for them (RFC 8441).
   */
  readonly webSockets?: boolean;
  /** Speaks HTTP/2 as well, and with a certificate TLS. */
  readonly http2?: { readonly handler: AnyHandler } & Pick<Versions, 'certificate' | 'resumption'>;
  /** Each worker has a port of its own, at which the others do not answer. */
  readonly ofProcess?: true;
  /** How an address tells what no handler sees; default: as it is. */
  readonly refusalAt?: RefusalAt | undefined;
  readonly log: Log;
  readonly limits?: Partial<ServerLimits>;
  /** Proxies whose connections count toward the total alone; default: none. */
  readonly trusted?: TrustedProxies;
  /** The admission of the listener that this one stands beside; default: its own, by the limits. */
  readonly admission?: Admission;
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Serves HTTP on a TCP port; 0 picks a free one. Rejects with the system's error, whose `code` is for
 * example EADDRINUSE. The handler sees requests that can be read in one way, with a target of tolerable
 * length.
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
    // Workers share their parent's listener, so that a successor can take their place; another process has its own. Any free
    // port (0) of one worker is its own, too: node:cluster would take that of the other server for the same.
    const exclusive = options.ofProcess ?? (!cluster.isWorker || (port === 0 && WORKERS === 1));
    const backlog = limit.connections.total;
    server.listen({ port, host, backlog, exclusive }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  http1.emit('listening'); // it begins to look at its timeouts
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
    http1.close(); // stops the timer of its timeouts
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

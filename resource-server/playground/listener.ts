import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Log } from '#shared/base/log.ts';
import { HttpError } from '#shared/http/answer.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import type { AnyHandler, AnyRequest } from '#shared/server/message/message.ts';
import type { Certificate } from '#shared/server/listen/versions.ts';
import type { TunnelHandler } from '#shared/server/tunnels/tunnel.ts';
import { type Connection, dividedAtTunnel } from './http1-message.ts';
import { AT_ONCE } from './at-once.ts';

const HOST = '127.0.0.1';
/** Milliseconds for one leg. */
const PATIENCE = 5000;
/** Bytes of the longest answer that is shown. */
const LONGEST = 65_536;

/** A way to a server. */
export interface Way {
  /**
   * Sends a request to the server on a connection of its own, and returns the octets that come back, with TLS above it.
   * For the server the connection comes from `visitor`, an address. Rejects with `HttpError` 503 if it takes too long.
   * `write`: makes the request for this connection, which is undefined in clear text. `through`: what is sent when the
   * answer has opened a tunnel.
   */
  send(
    write: (connection: Connection | undefined) => Buffer,
    visitor: string,
    through?: Buffer,
  ): Promise<Buffer>;
}

/** The way from the playground to its own server. */
export interface Loopback extends Way, AsyncDisposable {
  /** Connects another client of this process, which `connect` dials; for the server it is the visitor. */
  dial(visitor: string, connect: (port: number) => Promise<Socket>): Promise<Socket>;
}

/** The certificate of a listener that speaks TLS, and the host of its origin. */
export interface LoopbackTls {
  readonly certificate: Certificate;
  readonly host: string;
}

export interface LoopbackOptions {
  readonly tls?: LoopbackTls | undefined;
  /** Takes CONNECT, as `listen`. */
  readonly tunnel?: TunnelHandler;
  /** As `listen`. */
  readonly open?: typeof listen;
}

/**
 * Opens a listener of this process alone when the first request is sent. It serves no connection but those of `send`:
 * other programs of this machine are cut off.
 */
export function openLoopback(
  handler: AnyHandler,
  log: Log,
  { tls, tunnel, open = listen }: LoopbackOptions = {},
): Loopback {
  let opened: Promise<Listening> | undefined;
  /** Addresses of visitors by the client's port of the connection. */
  const visitors = new Map<number | undefined, string>();

  /** False for another program's connection, which ends. */
  const isOwn = ({ socket }: AnyRequest): boolean => {
    const visitor = visitors.get(socket.remotePort);
    if (visitor === undefined) {
      socket.destroy();
      return false;
    }
    // Limits count the visitor, whom no network of the configuration and no trusted proxy may stand for.
    Object.defineProperty(socket, 'remoteAddress', { value: visitor });
    return true;
  };
  const serve: AnyHandler = (request, response) =>
    isOwn(request) ? handler(request, response) : undefined;
  const begin = () =>
    open({
      host: HOST,
      port: 0,
      handler: serve,
      ...(tunnel && {
        tunnel: async (asked) => (isOwn(asked.request) ? tunnel(asked) : undefined),
      }),
      ...(tls && {
        http2: { handler: serve, certificate: tls.certificate, resumption: false },
      }),
      ofProcess: true,
      log,
      limits: { connections: { address: 2 * AT_ONCE, total: 2 * AT_ONCE } },
    });

  /** One that failed to open is tried again with the next request. */
  const forget = (error: unknown): never => {
    opened = undefined;
    const failed = new HttpError(503, 'The playground cannot be reached. Try again in a moment.');
    failed.reason = String(error);
    throw failed;
  };

  const portOf = async () => (await (opened ??= begin().catch(forget))).port;
  const register = (socket: Socket, visitor: string) => {
    const { localPort } = socket;
    visitors.set(localPort, visitor);
    socket.once('close', () => visitors.delete(localPort));
  };

  return {
    async dial(visitor, connectTo) {
      const socket = await connectTo(await portOf());
      register(socket, visitor);
      return socket;
    },
    async send(write, visitor, through) {
      const port = await portOf();
      const socket = tls ? connectOverTls(port, tls) : connect({ host: HOST, port });
      return exchangeOn(socket, through, async (signal) => {
        await once(socket, 'connect', { signal });
        register(socket, visitor);
        return write(await handshake(socket, tls, signal));
      });
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.close(0);
    },
  };
}

/**
 * Sends on a connection what `begin` returns when it is there, and returns all that comes back until it ends. Rejects with
 * `HttpError` 503 if it takes too long. `through`: what is sent when the answer has opened a tunnel.
 */
export async function exchangeOn(
  socket: Socket,
  through: Buffer | undefined,
  begin: (signal: AbortSignal) => Promise<Buffer>,
): Promise<Buffer> {
  // An abort before the connection is there would otherwise end the process.
  socket.on('error', () => {});
  const signal = AbortSignal.timeout(PATIENCE);
  const abort = () => socket.destroy(new Error('the exchange takes too long'));
  signal.addEventListener('abort', abort);
  try {
    socket.write(await begin(signal));
    const chunks: Buffer[] = [];
    let length = 0;
    let left = through;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LONGEST) throw new Error('the answer is longer than the playground shows');
      if (left && dividedAtTunnel(Buffer.concat(chunks))) {
        socket.write(left);
        left = undefined;
      }
    }
    return Buffer.concat(chunks);
  } catch (error) {
    const failed = new HttpError(503, 'The exchange was not answered. Try again in a moment.');
    failed.reason = String(error);
    throw failed;
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

/** The certificate is compared with the listener's own (`handshake`), so that no clock can make it expire. */
const connectOverTls = (port: number, { host }: LoopbackTls): TLSSocket =>
  connectTls({
    host: HOST,
    port,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
  });

/** Resolves when the handshake is over; undefined without TLS. Rejects if another listener has answered. */
async function handshake(
  socket: Socket,
  tls: LoopbackTls | undefined,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  if (!tls || !(socket instanceof TLSSocket)) return undefined;
  await once(socket, 'secureConnect', { signal });
  const certificate = socket.getPeerX509Certificate()?.raw;
  if (certificate?.equals(new X509Certificate(tls.certificate.cert).raw) !== true) {
    throw new Error('another listener has answered');
  }
  return {
    certificate,
    exporter: (label, context, length) => socket.exportKeyingMaterial(length, label, context),
  };
}

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Log } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { listen, type Listening } from '#shared/server/listen/listen.ts';
import type { AnyHandler, AnyRequest } from '#shared/server/message/message.ts';
import { notedOf } from '#shared/server/message/request-log.ts';
import type { Certificate } from '#shared/server/listen/versions.ts';
import type { TunnelHandler } from '#shared/server/tunnels/tunnel.ts';
import { type Connection, dividedAtTunnel } from './http1-message.ts';
import { AT_ONCE } from './at-once.ts';
import { patiently, readShown } from './patience.ts';
import { type Streamed, streamOn } from './stream.ts';

const HOST = '127.0.0.1';

/** The versions of HTTP, by their names in ALPN (RFC 9113 section 3.2). */
type Version = 'http/1.1' | 'h2';

/** The answer to a request, and the server's log line about it. */
export interface Received {
  /** The octets, decrypted if the connection uses TLS. */
  readonly received: Buffer;
  /** Undefined: the log is in another process, or in another part of this process. */
  readonly noted: LogFields | undefined;
}

/** A means to send requests to a server. */
export interface Way {
  /**
   * Sends a request to the server on a new connection, and returns the received octets. The server sees the address
   * `visitor`. Rejects with `HttpError` 503 if the answer takes too long. `write`: makes the request for this
   * connection, which is undefined in clear text. `through`: the octets to send after the answer has opened a tunnel.
   */
  send(
    write: (connection: Connection | undefined) => Buffer,
    visitor: string,
    through?: Buffer,
  ): Promise<Received>;
}

/** A means to send requests from the playground to its own server. */
export interface Loopback extends Way, AsyncDisposable {
  /** Sends a request over HTTP/2, which needs TLS here. `write` makes a list of fields (`writeList`). */
  stream(
    write: (connection: Connection | undefined) => Buffer,
    visitor: string,
  ): Promise<Streamed & Received>;
  /** Connects another client of this process, which `connect` dials. The server sees the address of the visitor. */
  dial(visitor: string, connect: (port: number) => Promise<Socket>): Promise<Socket>;
}

/** The address of a visitor, and the first request on the connection. */
interface Visit {
  readonly visitor: string;
  request?: AnyRequest;
}

/** The certificate of a TLS listener, and the host of its origin. */
export interface LoopbackTls {
  readonly certificate: Certificate;
  readonly host: string;
}

export interface LoopbackOptions {
  readonly tls?: LoopbackTls | undefined;
  /** Handles CONNECT, as in `listen`. */
  readonly tunnel?: TunnelHandler;
  /** Replaces `listen` in tests. */
  readonly open?: typeof listen;
}

/**
 * Opens a listener for this process when the first request is sent. It serves only connections of `send`, and closes
 * those of other programs.
 */
export function openLoopback(
  handler: AnyHandler,
  log: Log,
  { tls, tunnel, open = listen }: LoopbackOptions = {},
): Loopback {
  let opened: Promise<Listening> | undefined;
  /** The visits, by the client's port of the connection. */
  const visits = new Map<number | undefined, Visit>();

  /** Closes the connection of another program, and returns false. */
  const isOwn = (request: AnyRequest): boolean => {
    // Over HTTP/2 `request.socket` is a proxy. Its `setNoDelay` returns the socket itself.
    const socket = request.socket.setNoDelay();
    const visit = visits.get(socket.remotePort);
    if (visit === undefined) {
      socket.destroy();
      return false;
    }
    visit.request ??= request;
    // Limits count by the visitor's address, so the loopback address must not replace it.
    Object.defineProperty(socket, 'remoteAddress', { value: visit.visitor });
    return true;
  };
  const serve: AnyHandler = (request, response) =>
    isOwn(request) ? handler(request, response) : undefined;
  const openListener = () =>
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

  /** After a failure the next request tries to open again. */
  const forget = (error: unknown): never => {
    opened = undefined;
    const failed = new HttpError(503, 'The playground cannot be reached. Try again in a moment.');
    failed.reason = String(error);
    throw failed;
  };

  const portOf = async () => (await (opened ??= openListener().catch(forget))).port;
  const register = (socket: Socket, visit: Visit) => {
    const { localPort } = socket;
    visits.set(localPort, visit);
    socket.once('close', () => visits.delete(localPort));
  };

  /** Connects for a visitor. `begin`: makes the request once the connection is open. */
  const connectFor = (
    port: number,
    visitor: string,
    write: (connection: Connection | undefined) => Buffer,
    version: Version,
  ) => {
    const socket = tls ? connectOverTls(port, tls, version) : connect({ host: HOST, port });
    const visit: Visit = { visitor };
    const begin = async (signal: AbortSignal) => {
      await once(socket, 'connect', { signal });
      register(socket, visit);
      return write(await handshake(socket, tls, signal));
    };
    // The server notes the reason of a refusal before it answers.
    return { socket, begin, noted: () => visit.request && notedOf(visit.request) };
  };

  return {
    async dial(visitor, connectTo) {
      const socket = await connectTo(await portOf());
      register(socket, { visitor });
      return socket;
    },
    async send(write, visitor, through) {
      const { socket, begin, noted } = connectFor(await portOf(), visitor, write, 'http/1.1');
      const received = await exchangeOn(socket, through, begin);
      return { received, noted: noted() };
    },
    async stream(write, visitor) {
      const { socket, begin, noted } = connectFor(await portOf(), visitor, write, 'h2');
      const streamed = await streamOn(socket, begin);
      return { ...streamed, noted: noted() };
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.close(0);
    },
  };
}

/**
 * Sends the result of `begin` once the connection is open, and returns all received octets up to its end. Rejects with
 * `HttpError` 503 if it takes too long. `through`: the octets to send after the answer has opened a tunnel.
 */
export function exchangeOn(
  socket: Socket,
  through: Buffer | undefined,
  begin: (signal: AbortSignal) => Promise<Buffer>,
): Promise<Buffer> {
  return patiently(socket, async (signal) => {
    socket.write(await begin(signal));
    let left = through;
    return readShown(socket, (read) => {
      if (!left || !dividedAtTunnel(Buffer.concat(read))) return;
      socket.write(left);
      left = undefined;
    });
  });
}

/** The certificate is compared with the listener's own (`handshake`), so its dates do not matter. */
const connectOverTls = (port: number, { host }: LoopbackTls, version: Version): TLSSocket =>
  connectTls({
    host: HOST,
    port,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
    ALPNProtocols: [version],
    ...(isIP(host) === 0 && { servername: host }),
  });

/** Resolves when the handshake is over. Undefined without TLS. Rejects if another listener answered. */
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

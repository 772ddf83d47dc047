import { constants } from 'node:crypto';
import net, { type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { MALFORMED, NEEDS_TLS, TOO_SLOW } from '../client-errors/client-error.ts';
import { endGently, LINGER } from '../limits/connections.ts';
import type { LastRequests } from '../http1/last-requests.ts';
import { peek } from '../http1/peek.ts';
import { type ConnectionError, refusalMessage, refused } from '../message/connection-error.ts';
import { tellsMethod, unknownMethod, withStandIn } from '../client-errors/unknown-method.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** The first octets of an HTTP/2 connection if the client assumes support for HTTP/2 (RFC 9113 section 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** The suites of TLS 1.3, and the suites of TLS 1.2 that RFC 9113 section 9.2.2 allows: ephemeral keys and AEAD. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** The errors of OpenSSL for a request in clear text: one error for GET, HEAD, POST and PUT, another for CONNECT. */
const IN_CLEAR: ReadonlySet<string | undefined> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_HTTPS_PROXY_REQUEST',
]);

/** In PEM. */
export interface Certificate {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
}

export interface Versions {
  readonly http1: Server;
  readonly http2?: Server | undefined;
  readonly lasts: LastRequests;
  readonly certificate?: Certificate | undefined;
  /** False if no TLS session may be resumed. */
  readonly resumption?: boolean | undefined;
  /**
   * The most milliseconds for the first octets, for the TLS handshake, and for the client's end after the server's.
   */
  readonly patience: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Front {
  /** The server, which does not listen yet. */
  readonly server: Server;
  /** Ends connections whose protocol does not become known soon. */
  close(): void;
  /** Ends all connections whose protocol is not known yet. */
  destroy(): void;
}

/**
 * Creates one port for all versions of HTTP. With TLS the client chooses by ALPN (RFC 9113 section 3.2); in clear
 * text the first octets decide. The first octets of HTTP/1.1 also show the method, which node:http may not support.
 */
export function versionsFront(versions: Versions): Front {
  const { http1, http2, lasts, certificate, resumption = true, patience } = versions;
  const { log, clock, random } = versions;
  const open = new Set<Socket>();
  const undecided = new Set<Socket>();

  /** `prefaced`: the client's first octets are the preface of HTTP/2. */
  function choose(socket: Socket, prefaced: boolean): void {
    const enough = prefaced ? (bytes: Buffer) => decides(bytes) && tellsMethod(bytes) : tellsMethod;
    undecided.add(socket);
    socket.on('error', lost);
    peek(socket, enough, patience, (bytes) => {
      undecided.delete(socket);
      if (!enough(bytes)) return giveUp(socket, bytes);
      socket.off('error', lost);
      if (!prefaced || !isPreface(bytes)) return toHttp1(socket, bytes);
      socket.pause().unshift(bytes); // node:http2 reads by itself, beginning with these octets
      return toHttp2(socket);
    });
  }

  /** Tells a connected client why it was not served. */
  function giveUp(socket: Socket, bytes: Buffer): void {
    const ended = socket.readableEnded;
    if (!socket.writable || (ended && bytes.length === 0)) return void socket.destroy();
    tell(socket, ended ? MALFORMED : TOO_SLOW);
  }

  function tell(socket: Socket, refusal: ConnectionError): void {
    const told = refused(refusal, random);
    const { id, status, detail } = told;
    log.info('refused', { id, status, reason: detail, address: socket.remoteAddress });
    endGently(socket, refusalMessage(told, clock));
  }

  /** Returns the TCP connection of a TLS connection. After a failed handshake it can still carry clear text. */
  function beneath({ remoteAddress, remotePort }: Socket): Socket | undefined {
    return [...open].find(
      (socket) =>
        socket.remotePort === remotePort &&
        socket.remoteAddress === remoteAddress &&
        socket.writable,
    );
  }

  function toHttp1(socket: Socket, bytes: Buffer): void {
    const method = unknownMethod(bytes);
    if (method !== undefined) lasts.expect(socket, method);
    http1.emit('connection', socket);
    socket.unshift(method === undefined ? bytes : withStandIn(bytes));
  }

  function toHttp2(socket: Socket): void {
    endWhole(socket);
    http2?.emit('connection', socket);
  }

  /**
   * Ends a half-closed connection. Only tunnels of HTTP/1.1 need half-closed connections. HTTP/2 streams end by
   * frames (RFC 9113 section 5.1), so a client that can no longer acknowledge has left. After the server's own end
   * the client gets time to answer it.
   */
  function endWhole(socket: Socket): void {
    socket.once('end', () => socket.destroy());
    socket.once('finish', () => {
      const timer = setTimeout(() => socket.destroy(), patience);
      socket.once('close', () => clearTimeout(timer));
    });
  }

  const options = { allowHalfOpen: true, noDelay: true };
  const handshake = {
    ...certificate,
    ALPNProtocols: ['h2', 'http/1.1'],
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    // Without tickets no session can be resumed, since Node stores no sessions itself.
    secureOptions:
      constants.SSL_OP_NO_RENEGOTIATION | (resumption ? 0 : constants.SSL_OP_NO_TICKET),
    handshakeTimeout: patience,
  } as const;
  const server =
    certificate === undefined
      ? net.createServer(options, (socket) => choose(socket, http2 !== undefined))
      : tls.createServer({ ...options, ...handshake }, (socket) => {
          if (socket.alpnProtocol === 'h2') toHttp2(socket);
          else choose(socket, false);
        });
  // Node gives this handler a handshake that fails or never ends.
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const plain = IN_CLEAR.has(error.code) ? beneath(socket) : undefined;
    if (plain !== undefined) return tell(plain, NEEDS_TLS);
    log.info('refused', { reason: error.code ?? error.message, address: socket.remoteAddress });
    socket.destroy();
  });
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  return {
    server,
    close() {
      setTimeout(() => {
        for (const socket of undecided) endGently(socket);
      }, LINGER).unref();
    },
    destroy() {
      for (const socket of open) socket.destroy();
    },
  };
}

function lost(this: Socket): void {
  this.destroy();
}

function isPreface(bytes: Buffer): boolean {
  return bytes.subarray(0, PREFACE.length).equals(PREFACE);
}

/** True if the octets suffice to decide: they are the whole preface, or cannot become it. */
function decides(bytes: Buffer): boolean {
  const start = bytes.subarray(0, PREFACE.length);
  return start.length === PREFACE.length || !PREFACE.subarray(0, start.length).equals(start);
}

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

/** How a connection of HTTP/2 begins when the client knows without asking (RFC 9113 section 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** TLS 1.3's, and of TLS 1.2 what RFC 9113 section 9.2.2 allows: ephemeral keys and AEAD. */
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

/** The errors of OpenSSL for a request in clear text: one for GET, HEAD, POST and PUT, and one for CONNECT. */
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
  /** False: no session of TLS is resumed. */
  readonly resumption?: boolean | undefined;
  /** Milliseconds until the first bytes have come, the handshake of TLS is over, or our end is answered. */
  readonly patience: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Front {
  /** Does not listen yet. */
  readonly server: Server;
  /** Ends the connections that do not say soon what they speak. */
  close(): void;
  /** Ends all of them. */
  destroy(): void;
}

/**
 * One port for all versions of HTTP that are spoken there: with TLS the client chooses by ALPN (RFC 9113 section 3.2),
 * in clear text its first bytes tell. Those of HTTP/1.1 tell the method as well, which node:http may not know.
 */
export function versionsFront(versions: Versions): Front {
  const { http1, http2, lasts, certificate, resumption = true, patience } = versions;
  const { log, clock, random } = versions;
  const open = new Set<Socket>();
  const undecided = new Set<Socket>();

  /** `prefaced`: the client tells HTTP/2 by its first bytes. */
  function choose(socket: Socket, prefaced: boolean): void {
    const enough = prefaced ? (bytes: Buffer) => decides(bytes) && tellsMethod(bytes) : tellsMethod;
    undecided.add(socket);
    socket.on('error', lost);
    peek(socket, enough, patience, (bytes) => {
      undecided.delete(socket);
      if (!enough(bytes)) return giveUp(socket, bytes);
      socket.off('error', lost);
      if (!prefaced || !isPreface(bytes)) return toHttp1(socket, bytes);
      socket.pause().unshift(bytes); // node:http2 reads by itself, beginning with what is there
      return toHttp2(socket);
    });
  }

  /** Tells a client that is still there why it was not served. */
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

  /** The connection under one of TLS. After a handshake that has failed it can still carry clear text. */
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
   * Half a connection is of use to a tunnel of HTTP/1.1 only: streams end by frames (RFC 9113 section 5.1),
   * a client that cannot acknowledge any more is gone, and one that has our end is given time to answer it.
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
    // Without tickets nothing is left to resume by: Node keeps no sessions itself.
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
  // A handshake that fails or never ends is left to us.
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

/** There are enough bytes to tell: the whole preface, or something else. */
function decides(bytes: Buffer): boolean {
  const start = bytes.subarray(0, PREFACE.length);
  return start.length === PREFACE.length || !PREFACE.subarray(0, start.length).equals(start);
}

import { constants } from 'node:crypto';
import net, { type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import type { Log } from '#shared/base/log.ts';
import { endGently, LINGER } from './connections.ts';
import { peek } from './peek.ts';

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

/** In PEM. */
export interface Certificate {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
}

export interface Versions {
  readonly http1: Server;
  readonly http2: Server;
  readonly certificate?: Certificate | undefined;
  /** False: no session of TLS is resumed. */
  readonly resumption?: boolean | undefined;
  /** Milliseconds until the first bytes have come, the handshake of TLS is over, or our end is answered. */
  readonly patience: number;
  readonly log: Log;
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
 * One port for both versions of HTTP: with TLS the client chooses by ALPN (RFC 9113 section 3.2), in
 * clear text its first bytes tell.
 */
export function versionsFront(versions: Versions): Front {
  const { http1, http2, certificate, resumption = true, patience, log } = versions;
  const open = new Set<Socket>();
  const undecided = new Set<Socket>();

  async function choose(socket: Socket): Promise<void> {
    undecided.add(socket);
    socket.on('error', lost);
    const bytes = await peek(socket, decides, patience);
    undecided.delete(socket);
    socket.off('error', lost);
    if (bytes === undefined) socket.destroy();
    else hand(socket, isPreface(bytes));
  }

  function hand(socket: Socket, isHttp2: boolean): void {
    if (isHttp2) endWhole(socket);
    (isHttp2 ? http2 : http1).emit('connection', socket);
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
      ? net.createServer(options, (socket) => void choose(socket))
      : tls.createServer({ ...options, ...handshake }, (socket) => {
          hand(socket, socket.alpnProtocol === 'h2');
        });
  // A handshake that fails or never ends is left to us.
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: Socket) => {
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

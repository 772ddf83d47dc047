import { constants, type Http2Session } from 'node:http2';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import { SlowReaders } from './slow-readers.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/** Milliseconds between two checks. */
const LOOK = 1000;

interface Watched {
  readonly readers: SlowReaders;
  /** The number of open tunnels, which have their own time limit. */
  tunnels: number;
  /** The number of requests that reached a handler. */
  requests: number;
  /** Octets in both directions at the last check, and the number of checks since they changed. */
  bytes: number;
  quiet: number;
}

/**
 * The open HTTP/2 connections, with one timer that checks all of them. A timeout of node:http2 for each connection
 * would keep its session in memory until the timeout, long after the connection was closed.
 */
export class Http2Sessions implements Disposable {
  readonly #limit: ServerLimits;
  /** The number of checks in an `idleTimeout`. */
  readonly #patience: number;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Map<Http2Session, Watched>();
  #looks = 0;

  constructor(limit: ServerLimits) {
    const { idleTimeout } = limit;
    const interval = Math.min(LOOK, idleTimeout);
    this.#limit = limit;
    this.#patience = Math.ceil(idleTimeout / interval);
    this.#timer = setInterval(() => this.look(), interval).unref();
  }

  [Symbol.iterator](): Iterator<Http2Session> {
    return this.#open.keys();
  }

  add(session: Http2Session): void {
    const readers = new SlowReaders(session, this.#limit);
    const watched: Watched = { readers, tunnels: 0, requests: 0, bytes: 0, quiet: 0 };
    this.#open.set(session, watched);
    session.on('stream', () => {
      watched.requests += 1;
    });
    session.once('close', () => this.#open.delete(session));
  }

  /** Counts a tunnel of this session. Call the returned function at its end. */
  tunnel(session: Http2Session): () => void {
    const watched = this.#open.get(session);
    if (watched === undefined) return () => {};
    watched.tunnels += 1;
    return () => {
      watched.tunnels -= 1;
    };
  }

  /** Checks the traffic since the last check. */
  look(): void {
    this.#looks += 1;
    for (const [session, watched] of this.#open) {
      if (session.destroyed) continue;
      if (this.#looks % this.#patience === 0) watched.readers.look();
      this.#endIfIdle(session, watched);
      this.#endIfRefused(session, watched);
    }
  }

  #endIfIdle(session: Http2Session, watched: Watched): void {
    const { bytesRead, bytesWritten } = session.socket;
    const bytes = bytesRead + bytesWritten;
    watched.quiet = bytes === watched.bytes ? watched.quiet + 1 : 0;
    watched.bytes = bytes;
    if (watched.quiet >= this.#patience && watched.tunnels === 0) session.destroy();
  }

  /**
   * Counts header sections that nghttp2 refused for their size: they never became requests, but nghttp2 unpacked
   * them.
   */
  #endIfRefused(session: Http2Session, { requests }: Watched): void {
    if (session.destroyed) return;
    const { lastProcStreamID = 0 } = session.state; // the streams of a client have odd numbers (RFC 9113 section 5.1.1)
    if ((lastProcStreamID + 1) / 2 - requests <= this.#limit.invalidFrames) return;
    const reason = new Error('header sections that are too large, again and again');
    session.destroy(reason, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

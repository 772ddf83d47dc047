import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import { type Refusal, refusalMessage } from './refusal.ts';

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The answer was handed to the operating system, or the connection is gone. */
  done: boolean;
}

/** How long a refused client may go on sending: a reset would destroy the answer (RFC 9112 section 9.6). */
const LINGER = 1000;

/** Ends a connection whose client may still be sending; `last` are the last bytes it gets. */
export function endGently(socket: Duplex, last = ''): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}

/** The open connections of HTTP/1.1, and the exchanges that are under way on each. */
export class Connections {
  /** Unfinished exchanges in order; the last one stays until the next begins. */
  readonly #exchanges = new Map<Duplex, Exchange[]>();
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  /** A connection that comes back after a refused CONNECT is known already. */
  open(socket: Duplex): void {
    if (this.#exchanges.has(socket)) return;
    this.#exchanges.set(socket, []);
    socket.once('close', () => this.#exchanges.delete(socket));
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    const exchange: Exchange = { request, response, done: false };
    const open = this.#exchanges.get(request.socket)?.filter(({ done }) => !done);
    if (open !== undefined) this.#exchanges.set(request.socket, [...open, exchange]);
    if (this.#closing) response.shouldKeepAlive = false;
    response.once('close', () => {
      exchange.done = true;
      if (this.#closing) this.#closeIfIdle(request.socket);
    });
  }

  /** Resolves when the answers under way on the connection are out. */
  async settled(socket: Duplex): Promise<void> {
    const last = this.#exchanges.get(socket)?.findLast(({ done }) => !done);
    if (last === undefined) return;
    await new Promise((resolve) => last.response.once('close', resolve));
  }

  /**
   * Answers what is no complete request and closes the connection, once the answers to the requests
   * before it are out. When the content of a request is what is broken, this is the answer to that
   * request, unless it has one already. False: this connection is refused already; the parser reports
   * every further read.
   */
  refuse(socket: Duplex, refusal: Refusal, clock: Clock): boolean {
    if (this.#refused.has(socket)) return false;
    this.#refused.add(socket);
    const exchanges = this.#exchanges.get(socket) ?? [];
    const last = exchanges.at(-1);
    const broken = last?.request.complete === false ? last : undefined;
    const before = exchanges.findLast((exchange) => exchange !== broken && !exchange.done);
    const answer = () => {
      if (!socket.writable) return;
      endGently(socket, broken?.response.headersSent ? '' : refusalMessage(refusal, clock));
    };
    if (before === undefined) answer();
    else before.response.once('close', answer);
    return true;
  }

  /** Ends idle connections now and the others with the answer that is under way. */
  close(): void {
    this.#closing = true;
    for (const [socket, exchanges] of this.#exchanges) {
      for (const { response } of exchanges) {
        if (!response.headersSent) response.shouldKeepAlive = false;
      }
      this.#closeIfIdle(socket);
    }
  }

  destroy(): void {
    for (const socket of this.#exchanges.keys()) socket.destroy();
  }

  #closeIfIdle(socket: Duplex): void {
    if (this.#exchanges.get(socket)?.every(({ done }) => done)) socket.destroy();
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '#shared/base/clock.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { Admission } from './admission.ts';
import { type Refused, refusalMessage } from '../message/connection-error.ts';

/**
 * Requests of one connection: a packet may bring a thousand, and somebody who sends some packets would have the server
 * for some seconds.
 */
const SIDE_BY_SIDE = 10;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The answer was handed to the operating system, or the connection is gone. */
  done: boolean;
}

/**
 * Milliseconds that a client which was told of the end has: a refused one may go on sending, since a reset
 * would destroy its answer (RFC 9112 section 9.6), and one that asks while we end has its answer. As long one is
 * waited for that has ended its own side, where nothing shows whether it is still there.
 */
export const LINGER = 1000;

/** Ends a connection whose client may still be sending; `last` are the last bytes it gets. */
export function endGently(socket: Duplex, last = ''): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}

/** The open connections of HTTP/1.1, and the exchanges that are under way on each. */
export class Connections {
  readonly #admission: Pick<Admission, 'takes'>;
  /** Unfinished exchanges in order; the last one stays until the next begins. */
  readonly #exchanges = new Map<Duplex, Exchange[]>();
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  constructor(admission: Pick<Admission, 'takes'>) {
    this.#admission = admission;
  }

  /** True: it is known already, and comes back after a refused CONNECT or a handshake that opened nothing. */
  open(socket: Duplex): boolean {
    if (this.#exchanges.has(socket)) return true;
    this.#exchanges.set(socket, []);
    socket.once('close', () => this.#exchanges.delete(socket));
    if (this.#closing) this.#endWhenIdle(socket);
    return false;
  }

  /** How many requests of a connection are under way, those that wait for an answer before theirs among them. */
  underWay(socket: Duplex): number {
    return this.#exchanges.get(socket)?.length ?? 0;
  }

  /**
   * Returns the answer that has to be out before this request is carried out: of those that come before the answers
   * to those before them only safe ones are carried out side by side (RFC 9112 section 9.3.2), and few of them: of a
   * connection, and of all those from one address.
   */
  begin(request: IncomingMessage, response: ServerResponse): ServerResponse | undefined {
    const exchange: Exchange = { request, response, done: false };
    const open = this.#exchanges.get(request.socket)?.filter(({ done }) => !done) ?? [];
    const all = [...open, exchange];
    if (this.#exchanges.has(request.socket)) this.#exchanges.set(request.socket, all);
    if (this.#closing) this.#makeLast(exchange);
    response.on('close', () => {
      exchange.done = true;
      if (this.#closing) this.#endWhenIdle(request.socket);
    });
    const before = open.at(-1)?.response;
    if (before === undefined || all.length > SIDE_BY_SIDE || !all.every(isSafe)) return before;
    return this.#admission.takes(response, request.socket) ? undefined : before;
  }

  /**
   * Its client has ended its side, and may be gone: it is kept for answers that begin within a moment. A stream of events
   * may be silent for long, and ends.
   */
  halve(socket: Duplex): void {
    if (this.#next(socket) === undefined) return;
    const timer = setTimeout(() => {
      const next = this.#next(socket);
      if (next && (!next.headersSent || isEventStream(next))) socket.destroy();
    }, LINGER);
    socket.once('close', () => clearTimeout(timer));
  }

  /** More can be written: the answer under way may be waiting for that. */
  drained(socket: Duplex): void {
    this.#next(socket)?.emit('drain');
  }

  /** Resolves when the answers under way on the connection are out. */
  async settled(socket: Duplex): Promise<void> {
    const last = this.#exchanges.get(socket)?.findLast(({ done }) => !done);
    if (last === undefined) return;
    await new Promise((resolve) => last.response.once('close', resolve));
  }

  /** The last request of the connection, where its content has not come yet. */
  unread(socket: Duplex): IncomingMessage | undefined {
    return this.#unread(socket)?.request;
  }

  #unread(socket: Duplex): Exchange | undefined {
    const last = this.#exchanges.get(socket)?.at(-1);
    return last?.request.complete === false ? last : undefined;
  }

  /**
   * Answers what is no complete request and closes the connection, once the answers to the requests
   * before it are out. When the content of a request is what is broken, this is the answer to that
   * request, unless it has one already. False: this connection is refused already; the parser reports
   * every further read.
   */
  refuse(socket: Duplex, told: Refused, clock: Clock): boolean {
    if (this.#refused.has(socket)) return false;
    this.#refused.add(socket);
    const exchanges = this.#exchanges.get(socket) ?? [];
    const broken = this.#unread(socket);
    const before = exchanges.findLast((exchange) => exchange !== broken && !exchange.done);
    const answer = () => {
      if (!socket.writable) return;
      endGently(socket, broken?.response.headersSent ? '' : refusalMessage(told, clock));
    };
    if (before === undefined) answer();
    else before.response.once('close', answer);
    return true;
  }

  /**
   * The next answer on each connection is its last and says so. A connection without a request ends when
   * none has come for a while: one that crosses our end would go unanswered (RFC 9112 section 9.6).
   */
  close(): void {
    this.#closing = true;
    for (const [socket, exchanges] of this.#exchanges) {
      for (const exchange of exchanges) this.#makeLast(exchange);
      this.#endWhenIdle(socket);
    }
  }

  destroy(): void {
    for (const socket of this.#exchanges.keys()) socket.destroy();
  }

  /** The answer that is under way. */
  #next(socket: Duplex): ServerResponse | undefined {
    return this.#exchanges.get(socket)?.find(({ done }) => !done)?.response;
  }

  #makeLast({ request, response }: Exchange): void {
    if (response.headersSent) return; // the client was told that there may be another
    response.shouldKeepAlive = false;
    request.socket.destroySoon = () => endGently(request.socket); // as node:http ends it
  }

  #endWhenIdle(socket: Duplex): void {
    setTimeout(() => {
      const idle = this.#exchanges.get(socket)?.every(({ done }) => done);
      if (idle && socket.writable) endGently(socket);
    }, LINGER).unref();
  }
}

const isSafe = ({ request: { method = '' } }: Exchange) => METHODS.get(method)?.safe === true;

/** Whether the answer is a stream of events (HTML standard, section 9.2). Its clients do not close one side alone. */
const isEventStream = (response: ServerResponse): boolean =>
  /^text\/event-stream\s*(?:;|$)/i.test(String(response.getHeader('content-type')));

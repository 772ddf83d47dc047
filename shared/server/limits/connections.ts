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
  /** The first one of a connection has 1. */
  readonly number: number;
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

/** Places for requests beside others of their connection. */
type Places = Pick<Admission, 'takes' | 'wouldTake'>;

/** The open connections of HTTP/1.1, and the exchanges that are under way on each. */
export class Connections {
  readonly #admission: Places;
  /** Unfinished exchanges in order; the last one stays until the next begins. */
  readonly #exchanges = new Map<Duplex, Exchange[]>();
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  constructor(admission: Places) {
    this.#admission = admission;
  }

  /** True: it is known already, and comes back after a refused CONNECT or a handshake that opened nothing. */
  open(socket: Duplex): boolean {
    if (this.#exchanges.has(socket)) return true;
    this.#exchanges.set(socket, []);
    socket.once('close', () => {
      this.#abort(socket);
      this.#exchanges.delete(socket);
    });
    if (this.#closing) this.#endWhenIdle(socket);
    return false;
  }

  /**
   * Whether a request has to wait for the answers before its own: of those that come before these only safe ones are
   * carried out side by side (RFC 9112 section 9.3.2), and few of them: of a connection, and of all those from one
   * address.
   */
  waits(request: Pick<IncomingMessage, 'socket' | 'method'>): boolean {
    const { socket } = request;
    const open = this.#underWay(socket);
    if (open.length === 0) return false;
    if (open.length >= SIDE_BY_SIDE || !isSafe(request)) return true;
    return (
      !open.every((exchange) => isSafe(exchange.request)) || !this.#admission.wouldTake(socket)
    );
  }

  /** A request that need not wait begins. Returns how many of its connection have begun. */
  begin(request: IncomingMessage, response: ServerResponse): number {
    const { socket } = request;
    const known = this.#exchanges.get(socket) ?? [];
    const open = known.filter(({ done }) => !done);
    const number = (known.at(-1)?.number ?? 0) + 1;
    const exchange: Exchange = { request, response, number, done: false };
    if (this.#exchanges.has(socket)) this.#exchanges.set(socket, [...open, exchange]);
    if (this.#closing) this.#makeLast(exchange);
    response.on('close', () => {
      exchange.done = true;
      if (this.#closing) this.#endWhenIdle(socket);
    });
    if (open.length > 0) this.#admission.takes(response, socket);
    return number;
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

  #underWay(socket: Duplex): readonly Exchange[] {
    return this.#exchanges.get(socket)?.filter(({ done }) => !done) ?? [];
  }

  /** The answer that is under way. */
  #next(socket: Duplex): ServerResponse | undefined {
    return this.#exchanges.get(socket)?.find(({ done }) => !done)?.response;
  }

  /** As node:http does where it has the connection at its end. It tells the answer that is under way in any case. */
  #abort(socket: Duplex): void {
    for (const { request, response } of this.#underWay(socket)) {
      request.destroy();
      if (response.socket === null && !response.writableFinished) response.destroy();
    }
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

const isSafe = ({ method = '' }: Pick<IncomingMessage, 'method'>) =>
  METHODS.get(method)?.safe === true;

/** Whether the answer is a stream of events (HTML standard, section 9.2). Its clients do not close one side alone. */
const isEventStream = (response: ServerResponse): boolean =>
  /^text\/event-stream\s*(?:;|$)/i.test(String(response.getHeader('content-type')));

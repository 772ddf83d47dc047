import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Clock } from '#shared/base/clock.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { Admission } from './admission.ts';
import { type Refused, refusalMessage } from '../message/connection-error.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/**
 * The most requests of one connection that are handled at the same time: one packet may bring a thousand, which would
 * keep the server busy for seconds.
 */
const SIDE_BY_SIDE = 10;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The number of the request in its connection, from 1. */
  readonly number: number;
  /** True if the operating system has the whole answer, or the connection is closed. */
  done: boolean;
}

/**
 * Milliseconds that a client gets after the server has announced the end of the connection. A refused client may
 * still be sending, and a reset would destroy its answer (RFC 9112 section 9.6). A request that arrives in this time
 * still gets an answer. A half-closed connection is kept for the same time, since the server cannot see whether the
 * client still waits.
 */
export const LINGER = 1000;

/** Ends a connection whose client may still be sending; `last` are the last octets that it gets. */
export function endGently(socket: Duplex, last = ''): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}

/** A connection with its unfinished exchanges. */
interface Open extends Placed {
  readonly socket: Duplex;
  /** The unfinished exchanges in order; the last one stays until the next begins. */
  exchanges: readonly Exchange[];
  /** A timer that ends the connection while it is half-closed. */
  halved?: NodeJS.Timeout;
}

/**
 * The member for the data of a connection. A map of connections would delay the release of closed connections
 * (bag.ts).
 */
const OPEN = Symbol('open');

type Known = Duplex & { [OPEN]?: Open | undefined };

/** The limit for requests beside other requests of their connection. */
type Places = Pick<Admission, 'takes' | 'wouldTake'>;

/** The open HTTP/1.1 connections, with the unfinished exchanges of each. */
export class Connections {
  readonly #admission: Places;
  readonly #open = new Bag<Open>();
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  constructor(admission: Places) {
    this.#admission = admission;
  }

  /**
   * Returns true if the connection is known already: it comes back after a refused CONNECT, or after a handshake that
   * opened no WebSocket.
   */
  open(socket: Known): boolean {
    if (socket[OPEN] !== undefined) return true;
    const open: Open = { socket, exchanges: [], place: -1 };
    socket[OPEN] = open;
    this.#open.add(open);
    socket.once('close', () => {
      this.#abort(socket);
      socket[OPEN] = undefined;
      this.#open.delete(open);
      clearTimeout(open.halved);
    });
    if (this.#closing) this.#endWhenIdle(socket);
    return false;
  }

  /**
   * True if a request must wait for the answers to earlier requests. Only safe requests are handled in parallel (RFC
   * 9112 section 9.3.2); their number is limited for each connection and each address.
   */
  waits(request: Pick<IncomingMessage, 'socket' | 'method'>): boolean {
    const { socket } = request;
    const open = underWay(socket);
    if (open.length === 0) return false;
    if (open.length >= SIDE_BY_SIDE || !isSafe(request)) return true;
    return (
      !open.every((exchange) => isSafe(exchange.request)) || !this.#admission.wouldTake(socket)
    );
  }

  /** Marks a request as begun. Returns how many requests of its connection have begun. */
  begin(request: IncomingMessage, response: ServerResponse): number {
    const { socket } = request;
    const { [OPEN]: known }: Known = socket;
    const open = underWay(socket);
    const number = (known?.exchanges.at(-1)?.number ?? 0) + 1;
    const exchange: Exchange = { request, response, number, done: false };
    if (known !== undefined) known.exchanges = open.length > 0 ? [...open, exchange] : [exchange];
    if (this.#closing) this.#makeLast(exchange);
    response.on('close', () => {
      exchange.done = true;
      if (this.#closing) this.#endWhenIdle(socket);
    });
    if (open.length > 0) this.#admission.takes(response, socket);
    return number;
  }

  /**
   * Marks a connection as half-closed: its client may have left. The connection is kept for answers that begin within
   * a moment of the previous answer. A stream of events, which may be silent for long, is ended.
   */
  halve(socket: Known): void {
    const { [OPEN]: open } = socket;
    if (open === undefined || nextOf(socket) === undefined) return;
    clearTimeout(open.halved);
    open.halved = setTimeout(() => {
      const next = nextOf(socket);
      if (next && (!next.headersSent || isEventStream(next))) socket.destroy();
    }, LINGER);
  }

  /** Emits `drain` on the answer that may wait for it, since the connection can be written again. */
  drained(socket: Duplex): void {
    nextOf(socket)?.emit('drain');
  }

  /** Resolves when the unfinished answers of the connection are sent. */
  async settled(socket: Duplex): Promise<void> {
    const last = underWay(socket).at(-1);
    if (last === undefined) return;
    await new Promise((resolve) => last.response.once('close', resolve));
  }

  /** Returns the last request of the connection if its content has not arrived completely. */
  unread(socket: Duplex): IncomingMessage | undefined {
    return this.#unread(socket)?.request;
  }

  #unread(socket: Duplex): Exchange | undefined {
    const last = allOf(socket).at(-1);
    return last?.request.complete === false ? last : undefined;
  }

  /**
   * Answers an incomplete or malformed request and closes the connection, after the answers to earlier requests. If
   * the content of a request is malformed, this is the answer to that request, unless it has an answer already.
   * Returns false if this connection was refused before: the parser reports every further read.
   */
  refuse(socket: Duplex, told: Refused, clock: Clock): boolean {
    if (this.#refused.has(socket)) return false;
    this.#refused.add(socket);
    const exchanges = allOf(socket);
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
   * Makes the next answer on each connection the last, with `close`. An idle connection ends after a while: a request
   * that arrives at that moment would otherwise get no answer (RFC 9112 section 9.6).
   */
  close(): void {
    this.#closing = true;
    for (const { socket, exchanges } of this.#open.toArray()) {
      for (const exchange of exchanges) this.#makeLast(exchange);
      this.#endWhenIdle(socket);
    }
  }

  destroy(): void {
    for (const { socket } of this.#open.toArray()) socket.destroy();
  }

  /**
   * Aborts the requests, as node:http does at the end of a connection. node:http itself ends the answer under way.
   */
  #abort(socket: Duplex): void {
    for (const { request, response } of underWay(socket)) {
      request.destroy();
      if (response.socket === null && !response.writableFinished) response.destroy();
    }
  }

  #makeLast({ request, response }: Exchange): void {
    if (response.headersSent) return; // its fields say that the connection stays open
    response.shouldKeepAlive = false;
    request.socket.destroySoon = () => endGently(request.socket); // node:http calls this to end the connection
  }

  #endWhenIdle(socket: Duplex): void {
    setTimeout(() => {
      const { [OPEN]: open }: Known = socket;
      if (open && underWay(socket).length === 0 && socket.writable) endGently(socket);
    }, LINGER).unref();
  }
}

const NONE: readonly Exchange[] = [];

const allOf = (socket: Known): readonly Exchange[] => socket[OPEN]?.exchanges ?? NONE;

/** Returns the exchanges under way. Most connections have none, and then no array is made. */
function underWay(socket: Known): readonly Exchange[] {
  const all = allOf(socket);
  return all.every(({ done }) => done) ? NONE : all.filter(({ done }) => !done);
}

/** Returns the answer that is under way. */
const nextOf = (socket: Known): ServerResponse | undefined => underWay(socket)[0]?.response;

const isSafe = ({ method = '' }: Pick<IncomingMessage, 'method'>) =>
  METHODS.get(method)?.safe === true;

/** Whether the answer is a stream of events (HTML standard, section 9.2). Clients of such streams do not half-close. */
const isEventStream = (response: ServerResponse): boolean =>
  /^text\/event-stream\s*(?:;|$)/i.test(String(response.getHeader('content-type')));

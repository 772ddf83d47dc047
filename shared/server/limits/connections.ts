import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Bag, type Placed } from '#shared/base/bag.ts';
import type { Clock } from '#shared/base/clock.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { Admission } from './admission.ts';
import { type Refused, refusalMessage } from '../message/connection-error.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

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

/** A connection with the exchanges that are under way on it. */
interface Open extends Placed {
  readonly socket: Duplex;
  /** Unfinished ones in order; the last one stays until the next begins. */
  exchanges: readonly Exchange[];
  /** Runs while its client has ended its side. */
  halved?: NodeJS.Timeout;
}

/** The member for what is known of a connection. A map of connections would keep those that are over for long (bag.ts). */
const OPEN = Symbol('open');

type Known = Duplex & { [OPEN]?: Open | undefined };

/** Places for requests beside others of their connection. */
type Places = Pick<Admission, 'takes' | 'wouldTake'>;

/** The open connections of HTTP/1.1, and the exchanges that are under way on each. */
export class Connections {
  readonly #admission: Places;
  readonly #open = new Bag<Open>();
  readonly #refused = new WeakSet<Duplex>();
  #closing = false;

  constructor(admission: Places) {
    this.#admission = admission;
  }

  /** True: it is known already, and comes back after a refused CONNECT or a handshake that opened nothing. */
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
   * Whether a request has to wait for the answers before its own: of those that come before these only safe ones are
   * carried out side by side (RFC 9112 section 9.3.2), and few of them: of a connection, and of all those from one
   * address.
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

  /** A request that need not wait begins. Returns how many of its connection have begun. */
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
   * Its client has ended its side, and may be gone: it is kept for answers that begin within a moment, each of them after
   * the one before. A stream of events may be silent for long, and ends.
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

  /** More can be written: the answer under way may be waiting for that. */
  drained(socket: Duplex): void {
    nextOf(socket)?.emit('drain');
  }

  /** Resolves when the answers under way on the connection are out. */
  async settled(socket: Duplex): Promise<void> {
    const last = underWay(socket).at(-1);
    if (last === undefined) return;
    await new Promise((resolve) => last.response.once('close', resolve));
  }

  /** The last request of the connection, where its content has not come yet. */
  unread(socket: Duplex): IncomingMessage | undefined {
    return this.#unread(socket)?.request;
  }

  #unread(socket: Duplex): Exchange | undefined {
    const last = allOf(socket).at(-1);
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
   * The next answer on each connection is its last and says so. A connection without a request ends when
   * none has come for a while: one that crosses our end would go unanswered (RFC 9112 section 9.6).
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

  /** As node:http does where it has the connection at its end. It tells the answer that is under way in any case. */
  #abort(socket: Duplex): void {
    for (const { request, response } of underWay(socket)) {
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
      const { [OPEN]: open }: Known = socket;
      if (open && underWay(socket).length === 0 && socket.writable) endGently(socket);
    }, LINGER).unref();
  }
}

const NONE: readonly Exchange[] = [];

const allOf = (socket: Known): readonly Exchange[] => socket[OPEN]?.exchanges ?? NONE;

/** Mostly there is none, which costs no array. */
function underWay(socket: Known): readonly Exchange[] {
  const all = allOf(socket);
  return all.every(({ done }) => done) ? NONE : all.filter(({ done }) => !done);
}

/** The answer that is under way. */
const nextOf = (socket: Known): ServerResponse | undefined => underWay(socket)[0]?.response;

const isSafe = ({ method = '' }: Pick<IncomingMessage, 'method'>) =>
  METHODS.get(method)?.safe === true;

/** Whether the answer is a stream of events (HTML standard, section 9.2). Its clients do not close one side alone. */
const isEventStream = (response: ServerResponse): boolean =>
  /^text\/event-stream\s*(?:;|$)/i.test(String(response.getHeader('content-type')));

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { atTurnsEnd } from '#shared/base/turn.ts';
import { endGently } from '../limits/connections.ts';
import { PRI } from '../client-errors/unknown-method.ts';

/** The member of a connection that ends with a request. A map of connections would cost each request ten times as much. */
const LAST = Symbol('last');

/** `method` of the last request, which has not arrived yet; undefined: the last request has arrived. */
type Marked = Duplex & { [LAST]?: { readonly method: string | undefined } };

const BEEN = { method: undefined };

/**
 * The connections of HTTP/1.1 that end after a certain request: later octets are not read as requests (RFC 9112 section
 * 9.6).
 */
export class LastRequests {
  /**
   * The first request of the connection, which the parser reads with a substitute method, has this method and is the
   * last.
   */
  expect(socket: Marked, method: string): void {
    socket[LAST] = { method };
  }

  /** Marks that the last request of the connection has arrived. */
  add(socket: Marked): void {
    socket[LAST] = BEEN;
  }

  has(socket: Marked): boolean {
    return socket[LAST] !== undefined;
  }

  /** Whether the last request of the connection has arrived: later octets are not read as requests. */
  ended(socket: Marked): boolean {
    return socket[LAST] === BEEN;
  }

  /** Gives a request the method that was passed to `expect`. */
  name(request: IncomingMessage, response: ServerResponse): void {
    const socket: Marked = request.socket;
    const method = socket[LAST]?.method;
    if (method === undefined) return;
    this.end(request, response);
    if (method === PRI) nameLater(request);
    else request.method = method;
  }

  /** Makes this request, which is handled, the last of its connection. */
  end({ socket }: IncomingMessage, response: ServerResponse): void {
    this.add(socket);
    response.shouldKeepAlive = false;
    socket.destroySoon = () => endGently(socket); // as node:http ends it
  }
}

/**
 * node:http destroys the connection if a request has this method and further octets were read. So reading stops, and
 * the method is set at the end of the turn.
 */
function nameLater(request: IncomingMessage): void {
  request.socket.pause();
  atTurnsEnd(() => (request.method = PRI));
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { atTurnsEnd } from '#shared/base/turn.ts';
import { endGently } from '../limits/connections.ts';
import { PRI } from '../client-errors/unknown-method.ts';

/**
 * The member of a connection for the request after which it ends. A map of connections would cost each request ten
 * times as much.
 */
const LAST = Symbol('last');

/** `method` belongs to the last request, which has not arrived yet; undefined if the last request has arrived. */
type Marked = Duplex & { [LAST]?: { readonly method: string | undefined } };

const BEEN = { method: undefined };

/**
 * The connections of HTTP/1.1 that end after a certain request: further octets are not read as requests (RFC 9112
 * section 9.6).
 */
export class LastRequests {
  /**
   * Announces that the connection's first request is its last and has this method; the parser reads the request with
   * a substitute method.
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

  /** True if the last request of the connection has arrived: further octets are not read as requests. */
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

  /** Makes this request, which is being handled, the last of its connection. */
  end({ socket }: IncomingMessage, response: ServerResponse): void {
    this.add(socket);
    response.shouldKeepAlive = false;
    socket.destroySoon = () => endGently(socket); // node:http calls this to end the connection
  }
}

/**
 * Sets the method at the end of the turn, and stops reading until then: node:http destroys the connection if a
 * request has this method and further octets were read.
 */
function nameLater(request: IncomingMessage): void {
  request.socket.pause();
  atTurnsEnd(() => (request.method = PRI));
}

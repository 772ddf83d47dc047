import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { atTurnsEnd } from '#shared/base/turn.ts';
import { endGently } from '../limits/connections.ts';
import { PRI } from '../client-errors/unknown-method.ts';

/** The member of a connection that ends with a request. A map of connections would cost each request ten times as much. */
const LAST = Symbol('last');

/** `method` of the request that is to come; undefined: it has been. */
type Marked = Duplex & { [LAST]?: { readonly method: string | undefined } };

const BEEN = { method: undefined };

/** The connections of HTTP/1.1 that end with a request: what comes behind it is none (RFC 9112 section 9.6). */
export class LastRequests {
  /** The first request of the connection, which is read as another method's, is of this one, and is the last. */
  expect(socket: Marked, method: string): void {
    socket[LAST] = { method };
  }

  /** The last request of the connection has been. */
  add(socket: Marked): void {
    socket[LAST] = BEEN;
  }

  has(socket: Marked): boolean {
    return socket[LAST] !== undefined;
  }

  /** Whether the last request of the connection has been: what comes behind it is none. */
  ended(socket: Marked): boolean {
    return socket[LAST] === BEEN;
  }

  /** Gives a request the name of the method that `expect` knows of it. */
  name(request: IncomingMessage, response: ServerResponse): void {
    const socket: Marked = request.socket;
    const method = socket[LAST]?.method;
    if (method === undefined) return;
    this.end(request, response);
    if (method === PRI) nameLater(request);
    else request.method = method;
  }

  /** This request, which is carried out, is the last of its connection. */
  end({ socket }: IncomingMessage, response: ServerResponse): void {
    this.add(socket);
    response.shouldKeepAlive = false;
    socket.destroySoon = () => endGently(socket); // as node:http ends it
  }
}

/** node:http destroys the connection of a request that has this name when something was read of it. */
function nameLater(request: IncomingMessage): void {
  request.socket.pause();
  atTurnsEnd(() => (request.method = PRI));
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { atTurnsEnd } from '#shared/base/turn.ts';
import { endGently } from '../limits/connections.ts';
import { PRI } from '../client-errors/unknown-method.ts';

/** The connections of HTTP/1.1 that end with a request: what comes behind it is none (RFC 9112 section 9.6). */
export class LastRequests {
  /** The method of the request that is to come; undefined: it has been. */
  readonly #methods = new WeakMap<Duplex, string | undefined>();

  /** The first request of the connection, which is read as another method's, is of this one, and is the last. */
  expect(socket: Duplex, method: string): void {
    this.#methods.set(socket, method);
  }

  /** The last request of the connection has been. */
  add(socket: Duplex): void {
    this.#methods.set(socket, undefined);
  }

  has(socket: Duplex): boolean {
    return this.#methods.has(socket);
  }

  /** Whether the last request of the connection has been: what comes behind it is none. */
  ended(socket: Duplex): boolean {
    return this.#methods.has(socket) && this.#methods.get(socket) === undefined;
  }

  /** Gives a request the name of the method that `expect` knows of it. */
  name(request: IncomingMessage, response: ServerResponse): void {
    const method = this.#methods.get(request.socket);
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

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Fields } from '#shared/http/answer.ts';
import { lines } from '#shared/http/fields.ts';
import { type Connections, endGently } from '../limits/connections.ts';
import type { AnyRequest } from '../message/message.ts';
import type { Side } from './tunnel.ts';
import { nextTick } from '#shared/base/safe-timers.ts';

/**
 * The request of a WebSocket handshake. It goes the way of every other request, as a GET, and any other answer leaves
 * it one.
 */
export interface Upgrade {
  /** True for an extended CONNECT (RFC 8441): an answer of 2xx would say that it is open. */
  readonly extended: boolean;
  /** The server ends: the handler that has the WebSocket open has to end it. */
  readonly ending: AbortSignal;
  /**
   * Answers that it is open, once, with these fields and those that the response has. Then the stream gives the bytes
   * that the client sends; bytes written to it go to the client. The answer is over when the stream is closed.
   */
  open(fields: Fields): Side;
}

/** The member for a request's handshake. A map of requests would cost ten times as much. */
const UPGRADE = Symbol('upgrade');

type Upgrading = AnyRequest & { [UPGRADE]?: Upgrade };

/** Undefined: a request that can be answered, and nothing else. */
export function upgradeOf(request: Upgrading): Upgrade | undefined {
  return request[UPGRADE];
}

interface Http1Handshake {
  readonly request: IncomingMessage;
  /** False: its Upgrade is ignored (RFC 9110 section 7.8). */
  readonly opens: boolean;
  /** node:http has let go of it. */
  readonly socket: Socket;
  /** Ends `attend`. */
  readonly letGo: () => void;
  readonly connections: Connections;
  readonly ending: AbortSignal;
  /** Gives the connection back, for another request. */
  readonly again: () => void;
}

/** The answer to a request with Upgrade over HTTP/1.1, such as a handshake (RFC 6455), for which the connection is kept. */
export function http1Upgrade(handshake: Http1Handshake): ServerResponse {
  const { request, opens, socket, letGo, connections, ending, again } = handshake;
  const response = new ServerResponse(request);
  response.shouldKeepAlive = !lines(request.rawHeaders, 'connection').some((line) =>
    /(?:^|[ \t,])close(?:$|[ \t,])/i.test(line),
  );
  connections.begin(request, response);
  response.assignSocket(socket);

  const over = () => {
    response.detachSocket(socket);
    letGo();
    if (response.shouldKeepAlive) nextTick(again); // a stream forgets its listeners no sooner
    else endGently(socket);
    response.emit('close'); // as node:http does for the responses that it made
  };
  response.once('finish', over);
  if (!opens) {
    request.complete = true;
    request.push(null);
    return response;
  }
  (request as Upgrading)[UPGRADE] = {
    extended: false,
    ending,
    open(fields) {
      response.off('finish', over);
      letGo();
      socket.setTimeout(0);
      response.writeHead(101, { ...fields, Connection: 'Upgrade', Upgrade: 'websocket' }).end();
      response.detachSocket(socket);
      socket.once('close', () => response.emit('close'));
      return socket;
    },
  };
  return response;
}

/** A stream tells its end only once all before it is read. */
type Stream = Socket & { readonly _readableState: { readonly ended: boolean } };

/**
 * Watches the connection until a handshake has its answer, as node:http does while it has the connection: it notices
 * a client that leaves. It keeps the bytes that come, behind `head`; `ended`: the client has ended its side behind
 * them. The result ends it.
 */
export function attend(socket: Socket, head: Buffer, ended: () => void): () => void {
  if (head.length > 0) socket.unshift(head);
  const look = () => {
    if (socket.readableLength === 0) socket.read(0); // else its end would not be told
    else if ((socket as Stream)._readableState.ended) ended();
  };
  socket.on('readable', look);
  return () => socket.off('readable', look);
}

/** A handshake over HTTP/2 (RFC 8441 section 5): a stream, and the connection goes on beside it. */
export function http2Upgrade(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  ending: AbortSignal,
  opened: () => void,
): void {
  const { stream } = request;
  Object.assign(request, { method: 'GET' }); // as over HTTP/1.1, for all that goes by the method
  (request as Upgrading)[UPGRADE] = {
    extended: true,
    ending,
    open(fields) {
      const values = Object.entries(fields).map(([name, value]) => [
        name.toLowerCase(),
        typeof value === 'string' ? value : [...value],
      ]);
      opened();
      response.statusCode = 200;
      stream.respond({ ...response.getHeaders(), ...Object.fromEntries(values), ':status': 200 });
      return stream;
    },
  };
}

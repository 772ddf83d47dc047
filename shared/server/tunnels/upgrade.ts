import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Fields } from '#shared/http/answer.ts';
import { lines } from '#shared/http/fields.ts';
import { type Connections, endGently } from '../limits/connections.ts';
import type { AnyRequest } from '../message/message.ts';
import type { Side } from './tunnel.ts';
import { nextTick } from '#shared/base/safe-timers.ts';

/** A request for a WebSocket handshake. It is handled as a GET, and any answer but `open` answers it as a GET. */
export interface Upgrade {
  /** True for an extended CONNECT (RFC 8441), for which any 2xx answer would mean that the WebSocket is open. */
  readonly extended: boolean;
  /** Aborted when the server is about to end; the handler must then end the open WebSocket. */
  readonly ending: AbortSignal;
  /**
   * Opens the WebSocket, once, with these fields and those of the response. Then reading the stream gives the
   * client's octets; octets written to it go to the client. The answer is over when the stream is closed.
   */
  open(fields: Fields): Side;
}

/** The request's member for its handshake. A map of requests would cost ten times as much. */
const UPGRADE = Symbol('upgrade');

type Upgrading = AnyRequest & { [UPGRADE]?: Upgrade };

/** Returns the handshake; undefined if the request is not a handshake. */
export function upgradeOf(request: Upgrading): Upgrade | undefined {
  return request[UPGRADE];
}

interface Http1Handshake {
  readonly request: IncomingMessage;
  /** False if the request's Upgrade is ignored (RFC 9110 section 7.8). */
  readonly opens: boolean;
  /** The connection, which node:http has released. */
  readonly socket: Socket;
  /** Ends what `attend` began. */
  readonly letGo: () => void;
  readonly connections: Connections;
  readonly ending: AbortSignal;
  /** Gives the connection back, for another request. */
  readonly again: () => void;
}

/**
 * Creates the response to a request with Upgrade over HTTP/1.1, such as a handshake (RFC 6455), which may keep the
 * connection.
 */
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
    if (response.shouldKeepAlive) nextTick(again); // a stream removes its listeners only then
    else endGently(socket);
    response.emit('close'); // node:http does this for its own responses
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

/** A stream that emits its end only after all earlier octets are read. */
type Stream = Socket & { readonly _readableState: { readonly ended: boolean } };

/**
 * Watches the connection until a handshake has its answer, so that a client that disconnects is noticed, as node:http
 * does. It keeps arriving octets behind `head`, and calls `ended` if the client ends its side. The returned function
 * stops it.
 */
export function attend(socket: Socket, head: Buffer, ended: () => void): () => void {
  if (head.length > 0) socket.unshift(head);
  const look = () => {
    if (socket.readableLength === 0) socket.read(0); // otherwise the stream would not report its end
    else if ((socket as Stream)._readableState.ended) ended();
  };
  socket.on('readable', look);
  return () => socket.off('readable', look);
}

/** Creates the handshake for HTTP/2 (RFC 8441 section 5): it is one stream, and the connection continues. */
export function http2Upgrade(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  ending: AbortSignal,
  opened: () => void,
): void {
  const { stream } = request;
  Object.assign(request, { method: 'GET' }); // GET as over HTTP/1.1, for all code that depends on the method
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

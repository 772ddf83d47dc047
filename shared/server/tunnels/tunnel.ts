import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { lines } from '#shared/http/fields.ts';
import { type Answer, type Fields } from '#shared/http/answer.ts';
import { send } from '../message/answer.ts';
import { type Connections, endGently } from '../limits/connections.ts';
import type { AnyRequest } from '../message/message.ts';

/** The client's side of a tunnel: its connection, or a stream of HTTP/2. */
export type Side = Socket | ServerHttp2Stream;

/** A request for a tunnel (RFC 9110 section 9.3.6), with functions for its answer. */
export interface TunnelRequest {
  readonly request: AnyRequest;
  /** The request target as received: `host:port` if it is well-formed. */
  readonly authority: string;
  /**
   * Answers without a tunnel. Over HTTP/1.1 the connection stays open after a 407, for the client's next attempt,
   * unless more octets have already arrived. Every other answer ends the connection, because the octets that follow
   * could be a request or meant for the tunnel (RFC 9931).
   */
  refuse(answer: Answer): void;
  /** Answers as a server without tunnels does. */
  decline(): void;
  /**
   * Answers 200 with these fields. Then reading the stream gives the client's octets, including those that it sent
   * too early; octets written to the stream go to the client.
   */
  open(fields: Fields): Side;
}

export type TunnelHandler = (tunnel: TunnelRequest) => Promise<void>;

interface Http1Tunnel {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** The octets after the request. */
  readonly head: Buffer;
  readonly connections: Connections;
  /** Gives the connection back, for another request. */
  readonly again: () => void;
  /** Refuses the request on its connection. */
  readonly decline: () => void;
}

/** Creates a tunnel that is the whole connection, which node:http has released. */
export function http1Tunnel(parts: Http1Tunnel): TunnelRequest {
  const { request, socket, head, connections, again, decline } = parts;
  const response = new ServerResponse(request);
  connections.begin(request, response); // unfinished until the answer is sent, or the tunnel ends

  return {
    request,
    authority: request.url ?? '',
    refuse(answer) {
      if (answer.status !== 407 || head.length > 0 || isLast(request)) {
        response.shouldKeepAlive = false;
      }
      response.assignSocket(socket);
      response.once('finish', () => {
        response.detachSocket(socket);
        if (response.shouldKeepAlive) again();
        else endGently(socket);
        response.emit('close'); // node:http does this for its own responses
      });
      send(request, response, answer);
    },
    decline() {
      response.emit('close'); // the tunnel sends no further answer through this response
      decline();
    },
    open(fields) {
      socket.setTimeout(0);
      socket.write(`HTTP/1.1 200 OK\r\n${fieldLines(fields)}\r\n`, 'latin1');
      if (head.length > 0) socket.unshift(head);
      return socket;
    },
  };
}

/** Creates a tunnel that is one stream; the connection continues to carry other streams (RFC 9113 section 8.5). */
export function http2Tunnel(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  decline: () => void,
): TunnelRequest {
  return {
    request,
    authority: request.headers[':authority'] ?? '',
    refuse: (answer) => send(request, response, answer),
    decline,
    open(fields) {
      const values = Object.entries(fields).map(([name, value]) => [
        name.toLowerCase(),
        typeof value === 'string' ? value : [...value],
      ]);
      request.stream.respond({ ':status': 200, ...Object.fromEntries(values) });
      return request.stream;
    },
  };
}

/** True if the client will not send another request on the connection (RFC 9112 section 9.3). */
function isLast({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const options = lines(rawHeaders, 'connection').join(',').toLowerCase();
  return httpVersion !== '1.1' || options.split(/[ \t,]+/).includes('close');
}

function fieldLines(fields: Fields): string {
  let text = '';
  for (const [name, value] of Object.entries(fields)) {
    for (const line of [value].flat()) {
      validateHeaderName(name);
      validateHeaderValue(name, line);
      text += `${name}: ${line}\r\n`;
    }
  }
  return text;
}

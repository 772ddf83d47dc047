import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { lines } from '#shared/http/fields.ts';
import { type Answer, type Fields } from '#shared/http/answer.ts';
import { send } from '../message/answer.ts';
import { type Connections, endGently } from '../limits/connections.ts';
import type { AnyRequest } from '../message/message.ts';

/** The client's side: its connection, or one stream of HTTP/2. */
export type Side = Socket | ServerHttp2Stream;

/** A request for a tunnel (RFC 9110 section 9.3.6), and the two ways to answer it. */
export interface TunnelRequest {
  readonly request: AnyRequest;
  /** The request target as received: `host:port` if it is well-formed. */
  readonly authority: string;
  /**
   * Answers without a tunnel. Over HTTP/1.1 a 407 leaves the connection to the client's next attempt,
   * unless more bytes came already; every other answer ends it, because nobody knows whether what
   * comes next is a request or was meant for the tunnel (RFC 9931).
   */
  refuse(answer: Answer): void;
  /** Answers as a server without tunnels does. */
  decline(): void;
  /**
   * Answers 200 with these fields. Then the stream gives the bytes that the client sends, and those that it
   * sent too early; bytes written to the stream go to the client.
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
  /** Refuses it on the connection. */
  readonly decline: () => void;
}

/** The connection is the tunnel. node:http has let go of it. */
export function http1Tunnel(parts: Http1Tunnel): TunnelRequest {
  const { request, socket, head, connections, again, decline } = parts;
  const response = new ServerResponse(request);
  connections.begin(request, response); // until the answer is out, or the tunnel ends

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
        response.emit('close'); // as node:http does for the responses that it made
      });
      send(request, response, answer);
    },
    decline() {
      response.emit('close'); // there will be no answer of this kind
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

/** A stream is the tunnel, and the connection goes on beside it (RFC 9113 section 8.5). */
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

/** The client will not send another request on the connection (RFC 9112 section 9.3). */
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

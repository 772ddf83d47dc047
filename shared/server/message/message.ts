import type { IncomingMessage, ServerResponse } from 'node:http';
import { Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Writable } from 'node:stream';
import type { Client } from '#shared/base/line.ts';
import type { Fields } from '#shared/http/answer.ts';
import { Http1Response } from './http1-response.ts';

/** A request of HTTP/1.1 or HTTP/2. The pseudo-header fields of HTTP/2 are in `headers` and `rawHeaders`. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** The handler of a request of HTTP/1.1 or HTTP/2. */
export type AnyHandler = (request: AnyRequest, response: AnyResponse) => void | Promise<void>;

/** Returns the connection of a request, or over HTTP/2 its stream. */
export const clientOf = (request: AnyRequest): Client =>
  request instanceof Http2ServerRequest ? request.stream : request.socket;

/**
 * Sets fields for every answer to the request, unless the answer has other values. It includes the answer that is
 * written next.
 */
export function holdFields(response: AnyResponse, fields: Fields): void {
  if (response instanceof Http1Response) response.hold(fields);
  else setFields(response, fields);
}

/** Sets fields. Throws if a field is malformed. */
export function setFields(response: AnyResponse, fields: Fields): void {
  // This loop runs for each answer; `Object.entries` would cost ten times as much.
  for (const name in fields) response.setHeader(name, fields[name] ?? []);
}

/** Most octets of content that are written as text. */
const SHORT = 8192;

/**
 * Ends an answer with its content. Short octets are written as text: node:http writes text together with the fields,
 * and octets separately, which makes a short document a tenth more expensive. In latin1 each octet is a character.
 */
export function endWith(response: Writable, content: string | Uint8Array): void {
  if (typeof content === 'string' || content.length > SHORT) return void response.end(content);
  const { buffer, byteOffset, length } = content;
  response.end(Buffer.from(buffer, byteOffset, length).toString('latin1'), 'latin1');
}

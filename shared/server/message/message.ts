import type { IncomingMessage, ServerResponse } from 'node:http';
import { Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Writable } from 'node:stream';
import type { Client } from '#shared/base/line.ts';
import type { Fields } from '#shared/http/answer.ts';
import { Http1Response } from './http1-response.ts';

/** A request of HTTP/1.1 or of HTTP/2, whose pseudo-header fields stand in `headers` and `rawHeaders`. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** The handler of a request of either version. */
export type AnyHandler = (request: AnyRequest, response: AnyResponse) => void | Promise<void>;

/** The other end of a request: its stream, or in HTTP/1.1 its connection. */
export const clientOf = (request: AnyRequest): Client =>
  request instanceof Http2ServerRequest ? request.stream : request.socket;

/** Fields of every answer to the request that does not say otherwise, and those of one that is written next. */
export function holdFields(response: AnyResponse, fields: Fields): void {
  if (response instanceof Http1Response) response.hold(fields);
  else setFields(response, fields);
}

/** Throws for what is malformed. */
export function setFields(response: AnyResponse, fields: Fields): void {
  // A loop for each answer: `Object.entries` would cost ten times as much.
  for (const name in fields) response.setHeader(name, fields[name] ?? []);
}

/** Octets of content up to which they are handed over as text. */
const SHORT = 8192;

/**
 * Ends an answer with its content. node:http writes text and the fields as one, and octets beside them: a short document
 * costs a tenth more so. In latin1 each octet is a character.
 */
export function endWith(response: Writable, content: string | Uint8Array): void {
  if (typeof content === 'string' || content.length > SHORT) return void response.end(content);
  const { buffer, byteOffset, length } = content;
  response.end(Buffer.from(buffer, byteOffset, length).toString('latin1'), 'latin1');
}

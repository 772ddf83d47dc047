import type { ServerResponse } from 'node:http';
import type { Clock } from '#shared/base/clock.ts';
import { type Random, randomId } from '#shared/base/random.ts';
import { isHost } from '#shared/http/host.ts';
import { phraseOf, problem } from '#shared/http/problem.ts';
import type { AnyRequest } from './message.ts';
import { isNameless, requestId } from './request-log.ts';

/** The reason for which the server itself ends a request and its connection. `detail` is for the client. */
export interface ConnectionError {
  readonly status: number;
  readonly detail: string;
}

/** Changes a refusal to the form of the address in `target`, which is the target as received. */
export type RefusalAt = (target: string, refusal: ConnectionError) => ConnectionError;

/** A refusal with the id of its log line. */
export interface Refused extends ConnectionError {
  readonly id: string;
  /** The id that the client may see; absent if the client must stay anonymous. */
  readonly shownId?: string;
}

const NO_TUNNELS: ConnectionError = { status: 501, detail: 'This server makes no tunnels.' };
const NO_DESTINATION: ConnectionError = { status: 400, detail: 'CONNECT needs a host and a port.' };
export const OTHER_PROTOCOL: ConnectionError = {
  status: 501,
  detail: 'The only protocol over a stream here is websocket.',
};
export const CONTENT_OF_CONNECT: ConnectionError = {
  status: 400,
  detail: 'CONNECT has no content (RFC 9110 section 9.3.6).',
};
export const UNMET_EXPECTATION: ConnectionError = {
  status: 417,
  detail: 'The only expectation that is met here is 100-continue.',
};
/** RFC 9110 section 15.5.12. */
export const LENGTH_REQUIRED: ConnectionError = {
  status: 411,
  detail: 'Content of this method needs a Content-Length over HTTP/1.1.',
};
export const TOO_MANY: ConnectionError = {
  status: 503,
  detail: 'There are too many connections. Close those that you do not need, or try again later.',
};
export const FAILED: ConnectionError = {
  status: 500,
  detail: 'The server could not do this. The reason is in its log.',
};

/**
 * Returns the answer to CONNECT without tunnels: 501, or 400 if the destination is not `host:port` (RFC 9110 section
 * 9.3.6).
 */
export function noTunnel(destination = ''): ConnectionError {
  const [, host = '', port] = /^(.*):([0-9]{1,5})$/.exec(destination) ?? [];
  const number = Number(port ?? 0);
  return isHost(host) && number >= 1 && number <= 65_535 ? NO_TUNNELS : NO_DESTINATION;
}

/** Adds an id to a refusal: that of its request's log line, or a new id if no such line exists. */
export function refused(refusal: ConnectionError, random: Random, request?: AnyRequest): Refused {
  const id = (request && requestId(request)) || randomId(random);
  return { ...refusal, id, ...(!(request && isNameless(request)) && { shownId: id }) };
}

/** Returns the answer's field with the id. */
export const idField = ({ shownId }: Refused): { readonly 'X-Request-Id'?: string } =>
  shownId === undefined ? {} : { 'X-Request-Id': shownId };

/** Answers a request that the parser understood, and closes the connection afterwards. */
export function refuse(response: ServerResponse, told: Refused): void {
  const { status, detail } = told;
  const { type, body } = problem(status, undefined, detail);
  response.writeHead(status, {
    Connection: 'close',
    ...idField(told),
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Returns the refusal as a whole message, for a connection without a request (RFC 9112 section 4). */
export function refusalMessage(told: Refused, clock: Clock): string {
  const { status, detail } = told;
  const { type, body } = problem(status, undefined, detail);
  return [
    `HTTP/1.1 ${status} ${phraseOf(status)}`,
    `Date: ${new Date(clock.now()).toUTCString()}`,
    'Connection: close',
    ...Object.entries(idField(told)).map(([name, value]) => `${name}: ${value}`),
    `Content-Type: ${type}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

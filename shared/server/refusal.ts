import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Clock } from '#shared/clock.ts';
import { problem } from '#shared/http/problem.ts';

/** Why the server itself ends a request, and the connection with it. `detail` is for the client. */
export interface Refusal {
  readonly status: number;
  readonly detail: string;
}

export const NO_TUNNELS: Refusal = { status: 501, detail: 'This server makes no tunnels.' };
export const UNMET_EXPECTATION: Refusal = {
  status: 417,
  detail: 'The only expectation that is met here is 100-continue.',
};
export const FAILED: Refusal = {
  status: 500,
  detail: 'The server could not do this. The reason is in its log.',
};

/** Answers a request that the parser understood, and closes the connection after it. */
export function refuse(response: ServerResponse, { status, detail }: Refusal): void {
  const { type, body } = problem(status, undefined, detail);
  response.writeHead(status, {
    Connection: 'close',
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** The same as a whole message, for a connection that has no request (RFC 9112 section 4). */
export function refusalMessage({ status, detail }: Refusal, clock: Clock): string {
  const { type, body } = problem(status, undefined, detail);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date(clock.now()).toUTCString()}`,
    'Connection: close',
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

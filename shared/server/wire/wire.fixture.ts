import { afterEach, expect } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { type Handler, listen, type Listening, type ServerLimits } from '../listen/listen.ts';
import { statuses } from './test-socket.fixture.ts';

/** Closed at the end of the test. */
export const open: Listening[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

export const hello: Handler = (_request, response) => void response.end('hello');

export async function echo(request: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const piece of request) text += piece.toString('latin1');
  return text;
}

/** A server for one test. */
export async function start(
  handler = hello,
  limits: Partial<ServerLimits> = {},
): Promise<Listening> {
  const listening = await listen({ host: '127.0.0.1', port: 0, handler, log: silentLog, limits });
  open.push(listening);
  return listening;
}

/** Returns the only answer, which must be a problem that closes the connection. */
export function problemOf(received: string): { status: number; title: string; detail: string } {
  expect(statuses(received)).toHaveLength(1);
  const [head = '', body = ''] = received.split('\r\n\r\n');
  expect(head).toMatch(/^connection: close$/im);
  expect(head).toMatch(/^content-type: application\/problem\+json$/im);
  expect(head).toMatch(/^date: \w{3}, /im);
  expect(head).toMatch(new RegExp(`^content-length: ${body.length}$`, 'im'));
  return JSON.parse(body);
}

export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
export const CLOSING_GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

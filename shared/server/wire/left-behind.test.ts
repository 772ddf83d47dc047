import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { connect, Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { afterEach, test } from '@jest/globals';
import { until } from '../../../e2e/parts/process.ts';
import { silentLog } from '#shared/base/log.ts';
import { headersFrame, OPENING } from './http2-frames.fixture.ts';
import { listen, type Listening } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

/** The class of the sessions of node:http2, which it does not export. */
let Session: new () => unknown = Object;

const handler: AnyHandler = (request, response) => {
  if (request.url === '/answered') response.end();
  if (!(request instanceof Http2ServerRequest)) return;
  const constructor: unknown = request.stream.session?.constructor;
  if (typeof constructor === 'function') Session = constructor as typeof Session;
};

async function start(): Promise<Listening> {
  const both = { handler, http2: { handler }, host: '127.0.0.1', port: 0 };
  const listening = await listen({ ...both, log: silentLog });
  open.push(listening);
  return listening;
}

/** So many connections, a few at a time, which send these bytes and are closed once some came back, if any do. */
async function connections(port: number, count: number, bytes: string | Buffer, answered: boolean) {
  async function one(): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write(bytes);
    if (answered) await once(socket, 'data');
    const closed = new Promise((resolve) => void socket.once('close', resolve));
    socket.resume().end();
    await closed;
  }
  for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, one));
}

type Class = Parameters<typeof queryObjects>[0];

const count = (type: Class) => queryObjects(type, { format: 'count' });

/** What the suites before this one in the same process still hold, it may go on holding. */
async function untilFew(type: Class, before: number): Promise<void> {
  await until(() => count(type) <= before + 50);
}

const PUT = [
  [':method', 'PUT'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', '/'],
] as const;
const UPLOAD = Buffer.concat([OPENING, headersFrame(1, PUT, { endStream: false })]);

test('a thousand short connections of HTTP/2 leave no session behind', async () => {
  const { port } = await start();
  await connections(port, 50, UPLOAD, true); // Session is known now
  await connections(port, 1000, OPENING, false);
  await untilFew(Session, 0);
});

const upload = (target: string) =>
  `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx`;

test.each([
  ['over HTTP/2', Http2ServerRequest, UPLOAD, true],
  ['over HTTP/1.1', IncomingMessage, upload('/'), false],
  ['over HTTP/1.1 behind their answer', IncomingMessage, upload('/answered'), true],
])('uploads that were broken off %s leave neither request nor connection', async (...how) => {
  const [, request, bytes, answered] = how;
  const { port } = await start();
  const classes: Class[] = [request, Socket];
  const before = classes.map(count);
  await connections(port, 100, bytes, answered);
  for (const [index, type] of classes.entries()) await untilFew(type, before[index] ?? 0);
});

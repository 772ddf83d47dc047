/**
 * `left-behind.fixture.ts CASE`: runs a server and its clients in a process of their own. It exits with 0 when hardly
 * any object of their connections is left. It counts objects by a walk through the whole heap, which would take
 * seconds in a process that ran other suites.
 */
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { connect, Socket } from 'node:net';
import { queryObjects } from 'node:v8';
import { silentLog } from '#shared/base/log.ts';
import { until } from '../../../e2e/parts/process.ts';
import { listen } from '../listen/listen.ts';
import type { AnyHandler } from '../message/message.ts';
import { headersFrame, OPENING } from './http2-frames.fixture.ts';

/** The class of the sessions of node:http2, which it does not export. */
let Session: new () => unknown = Object;

const handler: AnyHandler = (request, response) => {
  if (request.url === '/answered') response.end();
  if (!(request instanceof Http2ServerRequest)) return;
  const constructor: unknown = request.stream.session?.constructor;
  if (typeof constructor === 'function') Session = constructor as typeof Session;
};

const both = { handler, http2: { handler }, host: '127.0.0.1', port: 0 };
const { port } = await listen({ ...both, log: silentLog });

/**
 * Opens `count` connections, a few at a time. Each sends these bytes, and is closed after the first answer, if there
 * is one.
 */
async function connections(count: number, bytes: string | Buffer, answered: boolean) {
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

const untilFew = (type: Class) => until(() => queryObjects(type, { format: 'count' }) <= 50);

const PUT = [
  [':method', 'PUT'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', '/'],
] as const;
const UPLOAD = Buffer.concat([OPENING, headersFrame(1, PUT, { endStream: false })]);

const upload = (target: string) =>
  `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx`;

async function brokenOff(request: Class, bytes: string | Buffer, answered: boolean): Promise<void> {
  await connections(100, bytes, answered);
  await untilFew(request);
  await untilFew(Socket);
}

const CASES: Readonly<Record<string, () => Promise<void>>> = {
  async sessions() {
    await connections(50, UPLOAD, true); // Session is known now
    await connections(1000, OPENING, false);
    await untilFew(Session);
  },
  http2: () => brokenOff(Http2ServerRequest, UPLOAD, true),
  http1: () => brokenOff(IncomingMessage, upload('/'), false),
  answered: () => brokenOff(IncomingMessage, upload('/answered'), true),
};

const what = CASES[process.argv[2] ?? ''];
if (what === undefined) throw new Error('name a case');
await what();
process.exit();

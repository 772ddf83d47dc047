import { once } from 'node:events';
import http from 'node:http';
import http2, { type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { until } from '../parts/process.ts';
import type { Message } from './push-events.ts';
import { openWaiters, type Way } from './push-waiters.ts';

const ALL = ['a', 'b', 'c'].map((id) => ({
  id,
  path: `/push/subscription/${id}`,
  push: `/push/push/${id}`,
}));

const eventTo = (id: string) =>
  `:\n\nevent: message\ndata: {"url":"https://push.example/push/message/${id}","body":"${btoa(id)}"}\n\n`;

/**
 * A push service with one message for each subscription. `status`: of its answers to requests for events.
 */
async function service({ streams }: Way, status = 200) {
  const open = new Set<{ destroy(): void }>();
  const server = streams === undefined ? http.createServer() : http2.createServer();
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    if (streams !== undefined) return;
    open.add(request.socket);
    response.writeHead(status).write(eventTo(request.url?.at(-1) ?? ''));
  });
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path = '', accept }) => {
    const id = path.at(-1) ?? '';
    open.add(stream.on('error', () => {}));
    if (accept === 'text/event-stream') {
      stream.respond({ ':status': status });
      stream.write(eventTo(id));
      return;
    }
    stream.pushStream({ ':path': `/push/message/${id}` }, (_, promised) => {
      promised.respond({ ':status': 200, link: `</push/push/${id}>; rel="urn:ietf:params:push"` });
      promised.end(id);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    end: () => open.forEach((one) => one.destroy()),
    async [Symbol.asyncDispose]() {
      open.forEach((one) => one.destroy());
      await server[Symbol.asyncDispose]();
    },
  };
}

const WAYS: readonly (readonly [string, Way])[] = [
  ['events over HTTP/1.1', { by: 'events' }],
  ['events over HTTP/2', { by: 'events', streams: 2 }],
  ['server push', { by: 'push', streams: 2 }],
];

test.each(WAYS)('each message is reported with its push resource: %s', async (_, way) => {
  await using server = await service(way);
  const arrived = new Map<string, Message>();
  const waiters = await openWaiters(server, way, ALL, (push, message) =>
    arrived.set(push, message),
  );
  await until(() => arrived.size === ALL.length);
  for (const { id, push } of ALL) {
    expect(arrived.get(push)).toEqual({ path: `/push/message/${id}`, body: id });
  }
  expect(waiters.lost()).toBe(0);
  await waiters[Symbol.asyncDispose]();
  expect(waiters.lost()).toBe(0);
});

test.each(WAYS)(
  'user agents that the server disconnects are counted as lost: %s',
  async (_, way) => {
    await using server = await service(way);
    await using waiters = await openWaiters(server, way, ALL, () => {});
    server.end();
    await until(() => waiters.lost() === ALL.length);
  },
);

test.each(WAYS.slice(0, 2))(
  'user agents that may not wait are not measured: %s',
  async (_, way) => {
    await using server = await service(way, 429);
    await expect(openWaiters(server, way, ALL, () => {})).rejects.toThrow('429');
  },
);

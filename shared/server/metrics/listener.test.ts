/** @slow */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../e2e/parts/process.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { listenForMetrics, type MetricsListening } from './listener.js';

let listening: MetricsListening | undefined;
afterEach(() => listening?.close());

async function listen(text: () => Promise<string> = async () => 'm 1\n') {
  const clock = new ManualClock();
  const asked = { count: 0 };
  const counted = () => {
    asked.count += 1;
    return text();
  };
  listening = await listenForMetrics({ host: '127.0.0.1', port: 0 }, counted, clock);
  const { port } = listening;
  /** Sends a request, and returns its status, fields and content. */
  async function ask(method = 'GET', path = '/metrics', headers: Record<string, string> = {}) {
    const asking = request({ port, host: '127.0.0.1', method, path, headers, agent: false });
    asking.on('error', () => {}); // the connection may end after its answer
    asking.end();
    const [answer] = await once(asking, 'response');
    return { status: answer.statusCode, headers: answer.headers, body: await textOf(answer) };
  }
  return { port, clock, asked, ask };
}

test('GET and HEAD at /metrics are answered', async () => {
  const { ask } = await listen();
  const { status, headers, body } = await ask();
  expect([status, headers['content-type'], headers['cache-control'], body]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
    'no-store',
    'm 1\n',
  ]);
  expect(await ask('GET', '/metrics?x=1')).toMatchObject({ status: 200 });
  expect(await ask('HEAD')).toMatchObject({
    status: 200,
    body: '',
    headers: { 'content-length': '4' },
  });
});

test.each([
  ['POST', '/metrics', 405],
  ['DELETE', '/metrics', 405],
  ['GET', '/', 404],
  ['GET', '/metrics/', 404],
  ['POST', '/admin', 404],
])('%s %s: %i', async (method, path, status) => {
  const { ask, asked } = await listen();
  const { status: told, headers } = await ask(method, path);
  expect(told).toBe(status);
  if (status === 405) expect(headers.allow).toBe('GET, HEAD');
  expect(asked.count).toBe(0);
});

test.each([
  ['localhost:9464', 200],
  ['127.0.0.1', 200],
  ['[::1]:9464', 200],
  ['evil.example:9464', 421],
  ['evil#x.localhost', 421],
  ['192.0.2.9:9464', 421],
  ['app.localhost', 200],
  ['localhost.evil.example', 421],
])('DNS rebinding: on loopback the field Host %j gets %i', async (host, status) => {
  const { ask } = await listen();
  expect((await ask('GET', '/metrics', { Host: host })).status).toBe(status);
});

test.each(['Host: localhost\r\nHost: localhost', 'Host: localhost\r\nHost: evil.example', ''])(
  'RFC 9112 section 3.2: HTTP/1.1 without a field Host, or with two, gets 400: %j',
  async (lines) => {
    const { port } = await listen();
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /metrics HTTP/1.1\r\n${lines}\r\n\r\n`);
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 400 /);
  },
);

describe('RFC 9112 section 9.3.2: a connection', () => {
  const GET = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';

  test('a connection on which a client pipelines a request is closed, and neither request is answered', async () => {
    const { port } = await listen();
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).write(GET.repeat(1000));
    expect(await textOf(socket).catch(() => '')).toBe('');
  });

  test('a connection serves one request after another', async () => {
    const { port } = await listen();
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (piece: Buffer) => (received += piece.toString()));
    for (let count = 1; count <= 3; count += 1) {
      socket.write(GET);
      await until(() => received.split('m 1\n').length === count + 1);
    }
    socket.destroy();
  });
});

test('RFC 9110 section 9.3.1: GET with content is 413, and the connection ends', async () => {
  const { ask } = await listen();
  const answer = await ask('GET', '/metrics', { 'Content-Length': '5', Connection: 'keep-alive' });
  expect([answer.status, answer.headers.connection]).toEqual([413, 'close']);
});

test('a header section that is too long is 431', async () => {
  const { ask } = await listen();
  expect((await ask('GET', '/metrics', { x: 'x'.repeat(9000) })).status).toBe(431);
});

test('during a flood of scrapes the text is made once a second', async () => {
  const { ask, asked, clock } = await listen();
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 20 }, () => ask()));
  }
  expect(asked.count).toBe(1);
  clock.advance(1);
  await ask();
  expect(asked.count).toBe(2);
});

test('if the text cannot be made, the answer is 503, and a later scrape tries again', async () => {
  let fails = true;
  const { ask, clock } = await listen(() =>
    fails ? Promise.reject(new Error('secret')) : Promise.resolve('m 1\n'),
  );
  expect(await ask()).toMatchObject({ status: 503, body: '', headers: { 'retry-after': '1' } });
  fails = false;
  clock.advance(1);
  expect((await ask()).status).toBe(200);
});

test('with 32 connections at a time, idle and slow connections block no other client for long', async () => {
  const { ask, port } = await listen(async () => 'm 1\n'.repeat(1_000_000));
  const connected = Array.from({ length: 40 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.pause();
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return once(socket, 'connect');
  });
  await Promise.all(connected);
  await expect(ask()).rejects.toThrow();
  // The slow clients are disconnected within ten seconds.
  await until(async () => (await ask().catch(() => ({ status: 0 }))).status === 200);
});

test('a port that is in use is reported', async () => {
  const { port } = await listen();
  await expect(
    listenForMetrics({ host: '127.0.0.1', port }, async () => '', new ManualClock()),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { jsonLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { type Handler, listen, type Listening } from '../listen/listen.ts';
import { logged, note, noteRoutine } from './request-log.ts';
import { exchange, TestSocket } from '../wire/test-socket.fixture.ts';

const open: Listening[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

const hello: Handler = (_request, response) => void response.end('hello');

/** Starts a server; returns the lines that it logs, too. */
async function start(handler = hello, proxies: readonly string[] = []) {
  const written: string[] = [];
  const clock = new ManualClock();
  const log = jsonLog((line) => void written.push(line), clock, 'test');
  const random = (bytes: number) => Buffer.alloc(bytes);
  const trusted = trustedProxies(proxies);
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler: logged(
      (request, response) => {
        clock.advance(2);
        return handler(request, response);
      },
      { log, clock, random, trusted },
    ),
    log,
    clock,
  });
  open.push(listening);
  return { listening, written };
}

/** Returns the only log line of this request. */
async function lineOf(
  request: string,
  ...options: Parameters<typeof start>
): Promise<Record<string, unknown>> {
  const { listening, written } = await start(...options);
  await exchange(listening, `${request}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/^\{.*\}\n$/);
  return JSON.parse(written[0] ?? '');
}

test('successful health checks give one line a minute, each failed check gives a line', async () => {
  let status = 200;
  const clock = new ManualClock();
  const written: Record<string, unknown>[] = [];
  const log = jsonLog((line) => void written.push(JSON.parse(line)), clock, 'test');
  const handler = logged(
    (_, response) => {
      response.statusCode = status;
      response.end();
    },
    { log, clock, random: systemRandom, trusted: trustedProxies([]) },
  );
  const listening = await listen({ host: '127.0.0.1', port: 0, handler, log, clock });
  open.push(listening);
  const ask = async (path: string, times = 1) => {
    for (let n = 0; n < times; n++) {
      const before = written.length;
      await fetch(`http://127.0.0.1:${listening.port}${path}`);
      await new Promise(setImmediate);
      if (path === '/other') while (written.length === before) await new Promise(setImmediate);
    }
    return written.splice(0).map(({ path: of, status: was, checks }) => [of, was, checks]);
  };
  await ask('/other');
  expect(await ask('/health/live', 20).then((lines) => lines.slice(0, 1))).toEqual([
    ['/health/live', 200, 1],
  ]);
  written.splice(0);
  clock.advance(60);
  const lines = [...(await ask('/health/ready', 3)), ...(await ask('/other'))];
  expect(lines).toEqual([
    ['/health/ready', 200, 20],
    ['/other', 200, undefined],
  ]);
  status = 503;
  const failures = [...(await ask('/health/ready', 3)), ...(await ask('/other'))];
  expect(failures.filter(([, was]) => was === 503)).toHaveLength(4);
});

test('successful routine requests give one line a minute for each kind', async () => {
  const clock = new ManualClock();
  const written: Record<string, unknown>[] = [];
  const log = jsonLog((line) => void written.push(JSON.parse(line)), clock, 'test');
  const handler = logged(
    (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://test');
      if (pathname === '/poll') noteRoutine(request, `poll ${searchParams.get('client')}`);
      response.statusCode = searchParams.has('bad') ? 403 : 200;
      response.end();
    },
    { log, clock, random: systemRandom, trusted: trustedProxies([]) },
  );
  const listening = await listen({ host: '127.0.0.1', port: 0, handler, log, clock });
  open.push(listening);
  const ask = async (path: string) => {
    await fetch(`http://127.0.0.1:${listening.port}${path}`);
  };
  /**
   * Returns the lines so far. A line is written shortly after its answer, so the last request is one that is always
   * logged.
   */
  async function lines() {
    await ask('/other');
    while (written.at(-1)?.['path'] !== '/other') await new Promise(setImmediate);
    return written
      .splice(0)
      .flatMap(({ path, status, checks }) => (path === '/other' ? [] : [[path, status, checks]]));
  }
  for (let n = 0; n < 5; n++) await ask('/poll?client=a');
  await ask('/poll?client=b');
  expect(await lines()).toEqual([
    ['/poll', 200, 1],
    ['/poll', 200, 1],
  ]);
  await ask('/poll?client=a&bad');
  expect(await lines()).toEqual([['/poll', 403, undefined]]);
  clock.advance(60);
  await ask('/poll?client=a');
  expect(await lines()).toEqual([['/poll', 200, 5]]);
});

describe('one log line for each request', () => {
  test('the line of a request has id, method, path, status and milliseconds', async () => {
    expect(await lineOf('GET /a?token=secret HTTP/1.1')).toEqual({
      time: '2027-01-15T08:00:02.000Z',
      level: 'info',
      server: 'test',
      event: 'request',
      id: 'AAAAAAAAAAAAAAAAAAAAAA',
      method: 'GET',
      path: '/a',
      status: 200,
      milliseconds: 2000,
    });
  });

  test('the line of a request has the notes of its handler', async () => {
    const line = await lineOf('GET / HTTP/1.1', (request, response) => {
      note(request, { space: 'documents', scheme: 'DPoP' });
      note(request, { verdict: 'refused', reason: 'a\n"b"\r\0' });
      response.writeHead(401).end();
    });
    expect(line).toMatchObject({
      space: 'documents',
      scheme: 'DPoP',
      verdict: 'refused',
      reason: 'a\n"b"\r\0',
      status: 401,
    });
  });

  test('a line keeps its own members if a note has the same name', async () => {
    const line = await lineOf('GET /a HTTP/1.1', (request, response) => {
      note(request, { status: 1, path: 'x', method: 'x', milliseconds: 0 });
      response.end();
    });
    expect(line).toMatchObject({ status: 200, path: '/a', method: 'GET', milliseconds: 2000 });
  });

  test.each([
    ['/a?access_token=secret', '/a'],
    ['/?secret', '/'],
    ['/a#secret', '/a'],
    ['http://user:secret@a/b?secret', '/b'],
    ['http://a?secret', ''],
    ['/a%0a%22b', '/a%0a%22b'],
    ['*', '*'],
  ])('a line never has the query or userinfo of %s', async (target, path) => {
    expect((await lineOf(`GET ${target} HTTP/1.1`))['path']).toBe(path);
  });

  test('a line says that the client disconnected before the answer', async () => {
    const { listening, written } = await start(() => {});
    const client = new TestSocket(listening);
    await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    client.socket.destroy();
    while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ cut: true });
  });

  test('a note on a request that is not logged is dropped', async () => {
    const { listening, written } = await start();
    listening.server.prependOnceListener('request', (request) => note(request, { reason: 'lost' }));
    await exchange(listening, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(written.join('')).not.toContain('lost');
  });
});

describe('X-Request-Id', () => {
  test.each<[string, Handler]>([
    ['an answer', hello],
    ['a refusal', (_request, response) => void response.writeHead(401, { Date: 'now' }).end()],
  ])('X-Request-Id of %s is the id of the log line', async (_what, handler) => {
    const { listening, written } = await start(handler);
    const answer = await exchange(
      listening,
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    const [, id] = /^X-Request-Id: (.+)\r$/im.exec(answer) ?? [];
    expect(id).toBe(JSON.parse(written[0] ?? '').id);
  });

  test('RFC 9576 section 6.1: an anonymous client gets no unique id', async () => {
    const { listening, written } = await start(hello);
    const answer = await exchange(
      listening,
      'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: privateToken token="AA"\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).not.toMatch(/request-id/i);
    expect(JSON.parse(written[0] ?? '').id).toBeDefined();
  });

  const given = (id: string) => `GET / HTTP/1.1\r\nX-Request-Id: ${id}`;

  test('X-Request-Id is the id in the log if a trusted proxy sends it', async () => {
    expect((await lineOf(given('Ab9._-'), hello, ['127.0.0.1/32']))['id']).toBe('Ab9._-');
  });

  test('X-Request-Id of a client that is no trusted proxy is ignored', async () => {
    expect((await lineOf(given('forged')))['id']).toBe('AAAAAAAAAAAAAAAAAAAAAA');
  });

  test.each(['a b', 'a"', '', 'a'.repeat(65), 'a, b', '\xe9'])(
    '%j is not accepted as an id',
    async (id) => {
      expect((await lineOf(given(id), hello, ['127.0.0.1/32']))['id']).toBe(
        'AAAAAAAAAAAAAAAAAAAAAA',
      );
    },
  );
});

test('a request that is refused before the handler leaves a line without the octets of the request', async () => {
  const { listening, written } = await start();
  await exchange(listening, 'GET /?secret HTTP/1.1\r\nAuthorization : Bearer secret\r\n\r\n');
  expect(written.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'refused', status: 400, reason: 'HPE_INVALID_HEADER_TOKEN', address: '127.0.0.1' },
  ]);
  expect(written.join('')).not.toContain('secret');
});

test('invalid octets in many reads during a response leave one line', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { listening, written } = await start(async (_request, response) => {
    await promise;
    response.end('hello');
  });
  const client = new TestSocket(listening);
  await client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  for (let read = 0; read < 20; read += 1) await client.send('garbage\r\n');
  resolve();
  await client.all;
  expect(written.map((line) => JSON.parse(line).status)).toEqual([400, 200]);
});

test('a lost connection leaves no line', async () => {
  const { listening, written } = await start();
  const reset = new TestSocket(listening);
  await reset.send('GET / HT');
  const lost = new Promise((resolve) => listening.server.once('clientError', resolve));
  reset.socket.resetAndDestroy();
  expect(await lost).toMatchObject({ code: 'ECONNRESET' });
  expect(written).toEqual([]);
});

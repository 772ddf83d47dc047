import { once } from 'node:events';
import http2 from 'node:http2';
import { afterEach, describe, expect, test } from '@jest/globals';
import { jsonLog } from '#shared/base/log.ts';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { type Handler, listen, type Listening, type ServerLimits } from '../listen/listen.ts';
import type { AnyHandler } from './message.ts';
import { logged } from './request-log.ts';
import { exchange, TestSocket } from '../wire/test-socket.fixture.ts';

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

/** The handler of `/fails` throws, and that of `/silent` never answers. */
const answer: AnyHandler = (request, response) => {
  if (request.url === '/fails') throw new Error('failed');
  if (request.url !== '/silent') response.end();
};

async function start(limits: Partial<ServerLimits>) {
  const lines: Record<string, unknown>[] = [];
  const [clock, random] = [systemClock, systemRandom];
  const log = jsonLog((line) => void lines.push(JSON.parse(line)), clock, 'test');
  const parts = { log, clock, random, trusted: trustedProxies([]) };
  const http1: Handler = (request, response) => {
    if (request.url === '/unlogged') throw new Error('failed');
    return logged(answer, parts)(request, response);
  };
  const both = { handler: http1, http2: { handler: logged(answer, parts) } };
  const listening = await listen({ ...both, host: '127.0.0.1', port: 0, log, limits });
  open.push(listening);
  return { listening, lines };
}

/** Returns the ids of the log lines that are not about a request. */
const idsOf = (lines: readonly Record<string, unknown>[]) =>
  lines.filter(({ event }) => event !== 'request').map(({ id }) => id);

const get = (path: string, ...fields: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: a', ...fields, '', ''].join('\r\n');

const shownIn = (message: string) =>
  [...message.matchAll(/^x-request-id: (.*)\r$/gim)].map(([, id]) => id);

describe('a refused request gets the id of its log line', () => {
  test.each<[string, number, string, Partial<ServerLimits>?]>([
    ['no HTTP', 400, 'GET / HTTP/1.1\r\nA : b\r\n\r\n'],
    [
      'an unknown method on a kept connection',
      501,
      `${get('/')}FROB / HTTP/1.1\r\nHost: a\r\n\r\n`,
    ],
    ['two hosts', 400, get('/', 'Host: b')],
    ['CONNECT', 501, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
    ['an expectation', 417, get('/', 'Expect: more')],
    ['half a first line', 408, 'GET', { headersTimeout: 50 }],
    [
      'slow content',
      408,
      'POST /silent HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
      { pace: { bytes: 3000, milliseconds: 20 } },
    ],
    ['content that is refused', 400, 'POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n'],
    ['a failure', 500, get('/fails')],
    [
      'content that is broken',
      400,
      'POST /silent HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n',
    ],
    ['a failure before there is an id', 500, get('/unlogged')],
  ])('HTTP/1.1, %s: %s', async (_, status, bytes, limits = {}) => {
    const { listening, lines } = await start(limits);
    const received = await exchange(listening, bytes);
    const last = received.split(/^(?=HTTP\/1\.1 )/m).at(-1) ?? '';
    const given = shownIn(last);
    expect([last.slice(9, 12), given]).toEqual([String(status), idsOf(lines)]);
    expect(given).toEqual([expect.stringMatching(/^[\w-]{22}$/)]);
  });

  test.each([
    ['CONNECT', 501, { ':method': 'CONNECT', ':authority': 'a:1' }],
    ['two hosts', 400, { host: 'b' }],
    ['an expectation', 417, { expect: 'more' }],
    ['slow content', 408, { ':method': 'POST', ':path': '/silent' }],
    ['a failure', 500, { ':path': '/fails' }],
  ])('HTTP/2, %s: %s', async (_, status, fields) => {
    const { listening, lines } = await start({ pace: { bytes: 3000, milliseconds: 20 } });
    const session = http2.connect(`http://127.0.0.1:${listening.port}`);
    const endStream = !(':method' in fields);
    const stream = session.request({ ':authority': 'a', ...fields }, { endStream });
    const [head] = await once(stream, 'response');
    session.destroy();
    expect([head[':status'], [head['x-request-id']]]).toEqual([status, idsOf(lines)]);
    expect(head['x-request-id']).toMatch(/^[\w-]{22}$/);
  });
});

test('a connection over the limit gets the id of its log line', async () => {
  const { listening, lines } = await start({ connections: { address: 1, total: 1 } });
  const first = new TestSocket(listening);
  await first.send('GET');
  const received = await exchange(listening, get('/'));
  first.socket.destroy();
  expect(received).toMatch(/^HTTP\/1\.1 503 /);
  expect(shownIn(received)).toEqual(idsOf(lines).slice(0, 1));
});

const CHUNKS = ['Transfer-Encoding: chunked', '', 'no size'];

test.each([
  ['', get('/', 'Authorization: PrivateToken token="AA"', 'Expect: more')],
  [' whose content is broken', get('/silent', 'Authorization: PrivateToken token="AA"', ...CHUNKS)],
])('RFC 9576 section 6.1: a request%s with a PrivateToken gets no id', async (_, bytes) => {
  const { listening, lines } = await start({});
  const received = await exchange(listening, bytes);
  expect(received).toMatch(/^HTTP\/1\.1 4/);
  expect(received).not.toMatch(/request-id/i);
  expect(idsOf(lines)).toEqual([expect.stringMatching(/^[\w-]{22}$/)]);
});

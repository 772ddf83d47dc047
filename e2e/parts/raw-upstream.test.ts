import { afterEach, describe, expect, test } from '@jest/globals';
import { rawHttp } from './raw-http.ts';
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts';

let upstream: RawUpstream;
afterEach(async () => upstream[Symbol.asyncDispose]());

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

async function start() {
  upstream = await startRawUpstream(async ({ socket, target, content }) => {
    await content();
    socket.write(OK);
    if (target === '/last') socket.end();
  });
}

const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\n\r\n';

test('the raw upstream reads several requests on one connection, in each framing, each with its content', async () => {
  await start();
  const sent = [
    'PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /',
    'PUT /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n',
    LAST,
  ];
  expect(await rawHttp(upstream.url, sent.join(''))).toBe(OK.repeat(3));
  const got = upstream.take();
  expect(got.map(({ method, target, read }) => [method, target, read])).toEqual([
    ['PUT', '/a', 'GET /'],
    ['PUT', '/b', 'abcde'],
    ['GET', '/last', ''],
  ]);
  expect(got[1]?.trailers).toEqual([['X', 'y']]);
  expect(upstream.unreadable).toEqual([]);
});

describe('the raw upstream refuses an ambiguous request:', () => {
  test.each([
    [
      'two framings',
      'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two lengths', 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    ['a bare line feed', 'GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n'],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n'],
    ['a folded line', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n'],
    [
      'an extension of a chunk',
      'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\nb\r\n0\r\n\r\n',
    ],
    ['content without framing fields', `GET / HTTP/1.1\r\nHost: a\r\n\r\nabc ${LAST}`],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
  ])('the request is unreadable: %s', async (_, bytes) => {
    await start();
    await rawHttp(upstream.url, bytes);
    expect(upstream.unreadable).toHaveLength(1);
  });
});

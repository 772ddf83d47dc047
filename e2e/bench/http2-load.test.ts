import { once } from 'node:events';
import http2 from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { overHttp2 } from './http2-load.ts';
import { always } from './requests.ts';

const REQUEST = {
  method: 'QUERY',
  path: '/stock',
  fields: { Authorization: 'right', 'Content-Type': 'application/jsonpath' },
  body: '$',
};

/** A clear-text HTTP/2 server; `answers` returns the status for a request, or resets the stream. */
async function contender(answers: (asked: string) => number | 'reset') {
  const server = http2.createServer((request, response) => void answer(request, response));
  async function answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    const status = answers([method, url, headers.authorization, await text(request)].join(' '));
    if (status === 'reset') return response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    response.statusCode = status;
    response.end('content');
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const loaded = overHttp2(
    {
      name: 'it',
      server: { url, pids: [], [Symbol.asyncDispose]: async () => {} },
      load: always(REQUEST),
      answer: { status: 200 },
      forged: () => REQUEST,
    },
    { connections: 2, streams: 3 },
  );
  return { loaded, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('RFC 9113 section 3.3: requests are sent with their content, without an upgrade', async () => {
  const seen = new Set<string>();
  await using it = await contender((asked) => (seen.add(asked), 200));
  const { count, errors } = await (await it.loaded.prepare(1))();
  expect([...seen]).toEqual(['QUERY /stock right $']);
  expect(count).toBeGreaterThan(0);
  expect(errors).toBe(0);
});

test.each([401, 503, 'reset'] as const)('%s instead of the answer is an error', async (other) => {
  let asked = 0;
  await using it = await contender(() => {
    asked += 1;
    return asked % 2 === 0 ? other : 200;
  });
  const { count, errors } = await (await it.loaded.prepare(1))();
  expect(errors).toBe(Math.floor(asked / 2));
  expect(count).toBe(Math.ceil(asked / 2));
});

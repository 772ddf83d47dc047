import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { overPool, type PoolContender } from './pool-load.ts';

/** Octets that are not valid text. */
const CONTENT = Buffer.of(0, 255, 13, 10, 0);

/** A server that echoes content with this status, and a load on two connections. */
async function setup(status: () => number, contender: Partial<PoolContender> = {}) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((content) => {
      seen.push(`${request.method} ${request.url} ${String(request.headers['x-who'])}`);
      response.statusCode = status();
      response.end(content);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request = { method: 'POST', path: '/a', fields: { 'X-Who': 'me' }, body: CONTENT };
  const loaded = overPool(
    {
      name: 'it',
      server: { url, pids: [], [Symbol.asyncDispose]: async () => {} },
      probes: [],
      prepare: () => () => request,
      isRight: (answer) => answer.status === 200 && answer.content.equals(CONTENT),
      ...contender,
    },
    2,
  );
  return { loaded, seen, request, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('octets are sent and received unchanged', async () => {
  await using it = await setup(() => 200);
  const { count, errors } = await (await it.loaded.prepare(0.2))();
  expect(new Set(it.seen)).toEqual(new Set(['POST /a me']));
  expect([count, errors]).toEqual([it.seen.length, 0]);
  expect(count).toBeGreaterThan(0);
});

test('a wrong answer is an error and is not counted', async () => {
  let asked = 0;
  await using it = await setup(() => (++asked % 2 === 0 ? 422 : 200));
  const { count, errors } = await (await it.loaded.prepare(0.2))();
  expect([count, errors]).toEqual([Math.ceil(asked / 2), Math.floor(asked / 2)]);
});

test('the run ends when there are no more requests', async () => {
  let left = 3;
  await using it = await setup(() => 200, {
    prepare: () => () => {
      left -= 1;
      return left < 0 ? undefined : { method: 'GET', path: '/', fields: {} };
    },
    isRight: () => true,
  });
  const { count, errors } = await (await it.loaded.prepare(3600))();
  expect([count, it.seen.length, errors]).toEqual([3, 3, 0]);
});

test('probes are sent in order, and a wrong answer to one rejects', async () => {
  const at = (path: string) => ({ method: 'GET', path, fields: {} });
  await using it = await setup(() => 200, {
    probes: [
      [at('/first'), ({ status }) => status === 200],
      [at('/second'), ({ status }) => status === 401],
      [at('/third'), ({ status }) => status === 200],
    ],
  });
  await expect(it.loaded.probe()).rejects.toThrow('it answered 200');
  expect(it.seen).toEqual(['GET /first undefined', 'GET /second undefined']);
});

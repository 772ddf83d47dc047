import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { overBatches } from './batch-load.ts';
import { fresh, type HttpRequest } from './requests.ts';

const at = (path: string): HttpRequest => ({ method: 'GET', path, fields: {} });

/** A verifying process, with the requests for these paths. */
async function setup(right: readonly string[], paths: readonly string[]) {
  let batch: HttpRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method === 'PUT') batch = (await json(request)) as HttpRequest[];
      response.end(
        JSON.stringify({ right: batch.filter(({ path }) => right.includes(path)).length }),
      );
    })();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let made = 0;
  const load = fresh(async () => at(paths[made++ % paths.length] ?? ''), 3);
  const contender = overBatches({
    name: 'it',
    server: { url, pids: [], [Symbol.asyncDispose]: async () => {} },
    load,
    forged: () => at('/forged'),
  });
  return { contender, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('each request of a batch is counted once, and a refused request is an error', async () => {
  await using it = await setup(['/a'], ['/a', '/a', '/b']);
  const { count, errors } = await (await it.contender.prepare(2))();
  expect([count, errors]).toEqual([4, 2]);
});

test.each([
  ['takes what is forged', ['/a', '/forged'], '3 of two right'],
  ['refuses what is right', [], '0 of two right'],
])('a process that %s is not measured', async (_, right, why) => {
  await using it = await setup(right, ['/a']);
  await expect(it.contender.probe()).rejects.toThrow(why);
  await using good = await setup(['/a'], ['/a']);
  await good.contender.probe();
});

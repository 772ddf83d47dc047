import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { acknowledge, Arrivals, deliver, openPool } from './push-arrivals.ts';

const TO = { id: 'a', path: '/push/subscription/a', push: '/push/push/a' };
const MESSAGE = '/push/message/1';

/** A server that accepts messages; `tell` makes them arrive. */
async function service(status: number, tell: (arrivals: Arrivals, body: string) => void) {
  const arrivals = new Arrivals();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    tell(arrivals, await text(request));
    response.writeHead(status, { Location: `https://push.example${MESSAGE}` }).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pool = openPool({ url }, 1);
  return {
    arrivals,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const arrive =
  (path: string, change = '') =>
  (arrivals: Arrivals, body: string) =>
    arrivals.arrived(TO.push, { path, body: body + change });

test('a message is delivered once both its answer and the message arrived; an arrival before the answer is negative', async () => {
  await using it = await service(201, arrive(MESSAGE));
  const { path, took } = await deliver(it.pool, TO, it.arrivals);
  expect(path).toBe(MESSAGE);
  expect(took).toBeLessThan(0);
  expect(it.arrivals.strange).toBe(0);
});

test.each([
  ['another body', 201, arrive(MESSAGE, '!'), 'another message'],
  ['another URL', 201, arrive('/push/message/2'), 'another message'],
  ['no answer 201', 429, arrive(MESSAGE), '429'],
])('%s is an error', async (_, status, tell, why) => {
  await using it = await service(status, tell);
  await expect(deliver(it.pool, TO, it.arrivals)).rejects.toThrow(why);
});

test('a message that arrives twice is strange', async () => {
  await using it = await service(201, (arrivals, body) => {
    arrive(MESSAGE)(arrivals, body);
    arrive(MESSAGE)(arrivals, body);
  });
  await deliver(it.pool, TO, it.arrivals);
  expect(it.arrivals.strange).toBe(1);
});

test('a refused acknowledgement is an error', async () => {
  await using good = await service(204, () => {});
  await acknowledge(good.pool, MESSAGE);
  await using bad = await service(404, () => {});
  await expect(acknowledge(bad.pool, MESSAGE)).rejects.toThrow('404');
});

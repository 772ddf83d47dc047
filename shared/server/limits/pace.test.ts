import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Pace } from './pace.ts';
import { TestSocket } from '../wire/test-socket.fixture.ts';

/** The pace of this suite; a test calls its checks. */
const pace = new Pace({ bytes: 10, milliseconds: 2_000_000_000 });
const server = http.createServer();
const clients: TestSocket[] = [];

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const client of clients.splice(0)) client.socket.destroy();
});
afterAll(() => {
  pace[Symbol.dispose]();
  server.close();
  server.closeAllConnections();
});

/** Starts a request with content, and counts how often it was cut off. */
async function upload({ read = true } = {}) {
  const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const { port } = server.address() as AddressInfo;
  const client = new TestSocket({ port });
  clients.push(client);
  await client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n');
  const [request, response] = await arrived;
  const cuts: string[] = [];
  pace.watch(request, () => cuts.push('cut'));
  request.on('error', () => {});
  if (read) request.resume();
  return { client, request, response, cuts };
}

test('content that makes no progress is cut off once, at the second check', async () => {
  const { cuts } = await upload();
  pace.look();
  expect(cuts).toEqual([]);
  pace.look();
  expect(cuts).toEqual(['cut']);
  pace.look();
  expect(cuts).toEqual(['cut']);
});

test('content of a few octets at a time is cut off, and content that is fast enough is not', async () => {
  const [drops, flow] = [await upload(), await upload()];
  pace.look();
  await drops.client.send('123456789');
  await flow.client.send('1234567890');
  pace.look();
  expect([drops.cuts, flow.cuts]).toEqual([['cut'], []]);
  pace.look();
  expect(flow.cuts).toEqual(['cut']);
});

test('content is not slow while it waits for the server', async () => {
  const { client, request, cuts } = await upload({ read: false });
  await client.send('12345');
  while (request.readableLength === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let looks = 0; looks < 3; looks += 1) pace.look();
  expect(cuts).toEqual([]);
  request.resume();
  while (request.readableLength > 0) await new Promise((resolve) => setImmediate(resolve));
  pace.look();
  expect(cuts).toEqual([]);
  pace.look();
  expect(cuts).toEqual(['cut']);
});

test('complete content, and content of a disconnected client, is no longer checked', async () => {
  const [whole, gone] = [await upload(), await upload()];
  await whole.client.send('x'.repeat(50));
  gone.client.socket.destroy();
  await new Promise((resolve) => void gone.request.once('close', resolve));
  for (let looks = 0; looks < 3; looks += 1) pace.look();
  expect([whole.cuts, gone.cuts]).toEqual([[], []]);
});

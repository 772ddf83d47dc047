import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { json, inProcess, TestShell } from '../cli.fixture.ts';

/** A server that answers its health check with this status, and the port where it listens. */
async function answering(status: number) {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/health/ready?for=reading' ? status : 404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

/** A shell whose servers listen at these ports. */
const shellAt = (authz: number, resource: number) =>
  new TestShell({
    COUNTERSIGN_LISTEN_AUTHZ_PORT: String(authz),
    COUNTERSIGN_LISTEN_RESOURCE_PORT: String(resource),
    COUNTERSIGN_LISTEN_RESOURCE_HOST: '127.0.0.1',
    COUNTERSIGN_LISTEN: '0.0.0.0',
  });

/** A port where no server listens. */
async function unused(): Promise<number> {
  await using server = await answering(200);
  return server.port;
}

test('server ready succeeds if both servers are ready, or the one that runs here', async () => {
  await using first = await answering(200);
  await using second = await answering(200);
  const both = await inProcess(shellAt(first.port, second.port), 'server', 'ready');
  expect([both.code, both.stdout]).toEqual([
    0,
    'The authorization server is ready.\nThe resource server is ready.\n',
  ]);
  expect(await json(shellAt(await unused(), second.port), 'server', 'ready')).toEqual({
    servers: [
      { server: 'authz', state: 'away' },
      { server: 'resource', state: 'ready' },
    ],
  });
});

test('server ready fails if one server is not ready, or if no server runs here', async () => {
  await using ready = await answering(200);
  await using unready = await answering(503);
  const one = await inProcess(shellAt(ready.port, unready.port), 'server', 'ready');
  expect([one.code, one.stdout]).toEqual([1, expect.stringContaining('is not ready.')]);
  const none = await inProcess(shellAt(await unused(), 0), 'server', 'ready');
  expect([none.code, none.stdout]).toEqual([1, expect.stringContaining('does not run here.')]);
});

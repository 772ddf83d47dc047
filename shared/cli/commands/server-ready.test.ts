import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { loadConfig } from '#shared/config/load.ts';
import { listenerOf } from '#shared/config/local-origin.ts';
import { json, inProcess, TestShell } from '../cli.fixture.ts';
import { listenersOf } from '../ready/listeners.ts';

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

test('server ready needs only the settings of the listeners: other mistakes do not matter', async () => {
  await using first = await answering(200);
  await using second = await answering(200);
  const file = join(await temporaryFolder(), 'c.json');
  const listen = { authz: { port: first.port }, resource: { port: second.port } };
  await writeFile(file, JSON.stringify({ listen, isuer: 1 }));
  const shell = new TestShell({ COUNTERSIGN_CONFIG: file, COUNTERSIGN_ISUER: 'x' });
  expect((await inProcess(shell, 'server', 'ready')).code).toBe(0);
});

const AUTHZ = { host: '127.0.0.2', port: 4000 };
test.each<[listen: object, env: Readonly<Record<string, string>>]>([
  [{}, {}],
  [{ host: '::1', authz: AUTHZ }, {}],
  [
    { host: '::1', authz: AUTHZ },
    { LISTEN: '0.0.0.0', LISTEN_AUTHZ_PORT: '4001' },
  ],
  [{ authz: AUTHZ }, { LISTEN_AUTHZ: '{"port": 4002}', LISTEN_RESOURCE_HOST: '127.0.0.3' }],
  [{ authz: AUTHZ }, { LISTEN_AUTHZ: '{"port": 4002}', LISTEN_AUTHZ_HOST: '127.0.0.4' }],
  [{ resource: { port: 0 } }, { LISTEN: '', LISTEN_AUTHZ_PORT: 'tcp://10.0.0.3:1' }],
  [{}, { LISTEN_FILE: 'host', LISTEN_RESOURCE_PORT_FILE: 'port' }],
])(
  'server ready asks where %j with the variables %j lets servers listen',
  async (listen, given) => {
    const folder = await temporaryFolder();
    const inFolder = (name: string) => join(folder, name);
    const contents = { 'c.json': JSON.stringify({ listen }), host: '127.0.0.5\n', port: '4005\n' };
    for (const [name, content] of Object.entries(contents))
      await writeFile(inFolder(name), content);
    const env = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        `COUNTERSIGN_${name}`,
        name.endsWith('_FILE') ? inFolder(value) : value,
      ]),
    );
    const read = { COUNTERSIGN_CONFIG: inFolder('c.json'), ...env };
    const config = await loadConfig(read);
    expect(listenersOf(read)).toEqual({
      authz: listenerOf(config, 'authz'),
      resource: listenerOf(config, 'resource'),
    });
  },
);

test.each([
  { LISTEN_AUTHZ_PORT: '99999' },
  { LISTEN_AUTHZ_HOST: 'a b' },
  { LISTEN_AUTHZ: '{"host":"a b","port":70000}' },
])('server ready takes the default in place of an address that cannot be one: %j', (given) => {
  const env = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [`COUNTERSIGN_${name}`, value]),
  );
  expect(listenersOf(env).authz).toEqual({ host: '127.0.0.1', port: 3000 });
});

import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { epochSeconds, systemClock } from '#shared/base/clock.ts';
import { GENERATE, publicJwk, signJws } from '#shared/jose/jws.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { entryFile } from '../../e2e/parts/entry.ts';
import { NODE } from '../../e2e/parts/process.ts';
import { ask } from '#shared/server/wire/ask.fixture.ts';

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-main-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

async function run(config: object): Promise<{ child: ChildProcess; log: () => string }> {
  const file = join(folder, 'countersign.json');
  await writeFile(file, JSON.stringify({ data: join(folder, 'data'), ...config }));
  const options: ForkOptions = {
    env: { ...NODE, COUNTERSIGN_CONFIG: file },
    execArgv: [],
    silent: true,
  };
  const child = fork(entryFile('resource-server/main.ts'), options);
  children.push(child);
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stdout?.on('data', (chunk: Buffer) => (log += `stdout: ${chunk.toString()}`));
  return { child, log: () => log };
}

const anyPort = { listen: { resource: { port: 0 }, resourceTls: { port: 0 }, proxy: { port: 0 } } };

interface Ready {
  readonly ready: true;
  readonly url: string;
  readonly port: number;
}

async function ready(child: ChildProcess): Promise<Ready> {
  const [message] = (await once(child, 'message')) as [Ready];
  return message;
}

test.each([
  ['SIGTERM', 'of a supervisor'],
  ['SIGHUP', 'of a terminal that was closed'],
] as const)(
  'the server announces that it listens, answers, logs JSON lines only, and ends with 0 at %s, %s',
  async (signal, _whose) => {
    const { child, log } = await run(anyPort);
    const { url, port } = await ready(child);
    expect(url).toBe('http://localhost:3001');
    expect((await ask(port, 'GET', '/health/live')).status).toBe(200);
    expect((await ask(port, 'GET', '/documents/')).status).toBe(401);
    // No authorization server has used the store yet. This is not an error.
    expect((await ask(port, 'GET', '/health/ready')).status).toBe(503);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(log()).toContain('"event":"store.new"');
    expect(log()).not.toContain('store.failing');
    const lines = log().trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('event');
  },
);

test('an ending server accepts new connections for the seconds of server.drain', async () => {
  const { child, log } = await run({ ...anyPort, server: { drain: 2 } });
  const { port } = await ready(child);
  child.kill('SIGTERM');
  while (!log().includes('"ending"')) await setTimeout(10);
  expect((await ask(port, 'GET', '/health/live')).status).toBe(200);
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('without an epoch in the store, `ready` and every request with a token are 503', async () => {
  const { child } = await run(anyPort);
  const { port } = await ready(child);
  expect((await ask(port, 'GET', '/health/ready')).status).toBe(503);
});

test('`ready` is 503 until the server has keys of the issuer', async () => {
  const key = { ...publicJwk(GENERATE.ES256().publicKey), kid: 'k1' };
  let keys: object[] = [];
  const issuer = http.createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await once(issuer.listen(0, '127.0.0.1'), 'listening');
  const jwks = { url: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks` };
  await using stores = await openSqlite({
    folder: join(folder, 'data'),
    clock: systemClock,
    random: systemRandom,
  });
  await stores.revocations.epoch(true);
  const { child } = await run({ ...anyPort, jwks });
  const { port } = await ready(child);
  const status = async () => (await ask(port, 'GET', '/health/ready')).status;
  expect(await status()).toBe(503);
  keys = [key];
  while ((await status()) !== 200) await setTimeout(50);
  issuer.close();
  expect(await status()).toBe(200);
});

test('a running upload is stored and answered before the server ends, and a new connection is refused', async () => {
  const key = GENERATE.ES256();
  const keys = [{ ...publicJwk(key.publicKey), kid: 'k1' }];
  const issuer = http.createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await once(issuer.listen(0, '127.0.0.1'), 'listening');
  const jwks = { url: `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks` };
  const data = join(folder, 'data');
  await using stores = await openSqlite({ folder: data, clock: systemClock, random: systemRandom });
  const iat = epochSeconds(systemClock);
  const token = signJws(
    { alg: 'ES256', typ: 'at+jwt', kid: 'k1' },
    {
      iss: 'http://localhost:3000',
      aud: 'http://localhost:3001/documents/',
      sub: 'machine',
      client_id: 'machine',
      jti: 'j',
      iat,
      exp: iat + 600,
      scope: 'documents:read documents:write',
      client_gen: 0,
      epoch: await stores.revocations.epoch(true),
    },
    key.privateKey,
  );

  const { child } = await run({ ...anyPort, jwks });
  const { port } = await ready(child);
  const headers = { Authorization: `Bearer ${token}`, Expect: '100-continue' };
  const path = '/documents/a';
  const request = http.request({ host: '127.0.0.1', port, method: 'PUT', path, headers });
  request.flushHeaders();
  await once(request, 'continue');
  request.write('whole ');
  child.kill('SIGTERM');
  await refused(port);
  request.end('content');
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(201);
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await stores.trees.get('/documents', 'a')).toMatchObject({ length: 13 });
  issuer.close();
});

/** Resolves when connections are refused. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const outcome = await once(socket, 'connect').catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    socket.destroy();
    if (outcome === 'ECONNREFUSED') return;
  }
}

test('a worker ends after its parent', async () => {
  const { child } = await run(anyPort);
  await ready(child);
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a port in use is a failure that names the setting', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { child } = await run({
    listen: { resource: { port }, resourceTls: { port: 0 }, proxy: { port: 0 } },
  });
  const [message] = (await once(child, 'message')) as [object];
  expect(message).toEqual({
    failed: `port ${port} is taken: end what runs there, or set listen.resource.port to another`,
  });
  expect(await once(child, 'exit')).toEqual([1, null]);
  other.close();
});

test('a wrong configuration is a failure that lists every mistake', async () => {
  const { child, log } = await run({ isuer: 'x', tokens: { skew: -1 } });
  const [message] = (await once(child, 'message')) as [{ failed: string }];
  expect(message.failed).toContain('isuer');
  expect(message.failed).toContain('tokens.skew');
  expect(await once(child, 'exit')).toEqual([1, null]);
  expect(JSON.parse(log())).toMatchObject({ level: 'error', event: 'start.failed' });
});

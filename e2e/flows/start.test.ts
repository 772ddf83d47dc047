import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { home, type Home, workersOf } from './home.ts';
import { startProcess, until } from '../parts/process.ts';
import type { RunningProcess } from '../parts/process.ts';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url).pathname;

/** Ends the process as Ctrl-C does; resolves to its exit code. */
async function interrupt(running: RunningProcess): Promise<number | null> {
  running.signal('SIGINT');
  await running.exited();
  return running.exitCode;
}

/** Repeats requests on one connection until an answer announces its end, or none comes. */
function keepAsking(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers: number[] = [];
  async function ask(): Promise<string> {
    for (;;) {
      const asking = request(url, { agent }).end();
      const [answer] = (await once(asking, 'response')) as [IncomingMessage];
      await text(answer);
      answers.push(answer.statusCode ?? 0);
      if (answer.headers.connection === 'close') return 'told to close';
    }
  }
  const end = ask()
    .catch((error: Error) => error.message)
    .finally(() => agent.destroy());
  return { answers, end };
}

/** The banner's lines without log lines. */
const banner = ({ output }: RunningProcess) =>
  output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));

async function demoToken({ issuer, firstStart }: Home): Promise<string> {
  const secret = /^client_secret +(\S+)$/m.exec(await readFile(firstStart, 'utf8'))?.[1];
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`demo-machine:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

/** Runs `npm start` in its own process group, as a terminal or a supervisor does. */
const startGroup = ({ env }: Home) =>
  startProcess('setsid', ['npm', 'start'], {
    cwd: ROOT,
    env,
    ready: (output) => output.includes('ready.'),
  });

/** Begins to write a document, and returns when its first half is on the disk. */
async function halfAnUpload(place: Home) {
  const url = `${place.resource}/documents/slow`;
  const authorization = `Bearer ${await demoToken(place)}`;
  const half = 'x'.repeat(20_000);
  const headers = { authorization, 'content-length': 2 * half.length };
  const upload = request(url, { method: 'PUT', headers });
  upload.write(half);
  const content = join(place.data, 'content', folderOf('/documents'));
  await until(async () => {
    const { stdout } = await run('find', [content, '-name', '*.part', '-size', `${half.length}c`]);
    return stdout !== '';
  });
  /** Writes the second half; resolves to the status. */
  async function finish(): Promise<number> {
    upload.end(half);
    const [response] = (await once(upload, 'response')) as [{ statusCode: number }];
    return response.statusCode;
  }
  return { url, authorization, half, finish };
}

/** Pastes the text into bash, and returns the output. */
async function paste(lines: string): Promise<string> {
  const bash = spawn('bash', { stdio: ['pipe', 'pipe', 'ignore'] });
  bash.stdin.end(lines);
  return text(bash.stdout);
}

const refusesConnections = async (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

test("after Ctrl-C during an upload, the first start's printed commands still work, also after the next start", async () => {
  await using place = await home();
  await using first = await place.start();
  expect(banner(first).at(-1)).toContain('ready');
  const kept = await readFile(place.firstStart, 'utf8');
  expect(first.output).toContain(kept.trim());
  expect((await stat(place.firstStart)).mode & 0o777).toBe(0o600);
  expect((await stat(place.data)).mode & 0o777).toBe(0o700);
  expect(await paste(kept)).toContain('HTTP/1.1 200 OK');

  const { url, authorization, half, finish } = await halfAnUpload(place);
  first.signal('SIGINT');
  await until(() => refusesConnections(url));
  expect(await finish()).toBe(201);
  await first.exited();
  expect(first.exitCode).toBe(0);

  await using second = await place.start();
  expect(banner(second).at(-1)).toContain('ready');
  expect(second.output).toContain(place.firstStart);
  expect(second.output).not.toContain('client_secret');
  expect(await paste(kept)).toContain('HTTP/1.1 200 OK');
  const found = await fetch(url, { headers: { authorization } });
  expect([found.status, await found.text()]).toEqual([200, half + half]);
  expect(await interrupt(second)).toBe(0);
  expect(await refusesConnections(place.issuer)).toBe(true);
  expect(await refusesConnections(place.resource)).toBe(true);
});

test('if a supervisor sends SIGTERM to all processes of the service, an upload is finished first', async () => {
  await using place = await home();
  const running = await startGroup(place);
  const { url, finish } = await halfAnUpload(place);
  process.kill(-(running.pid ?? 0), 'SIGTERM');
  await until(() => refusesConnections(url));
  expect(await finish()).toBe(201);
  await until(() => running.output.match(/"event":"ending"/g)?.length === 2);
  expect(running.output).not.toContain('has ended');
});

test('npm start in a terminal: Ctrl-C reaches npm and all its children at once, and both servers end properly', async () => {
  await using place = await home();
  const running = await startGroup(place);
  expect(await paste(await readFile(place.firstStart, 'utf8'))).toContain('HTTP/1.1 200 OK');
  process.kill(-(running.pid ?? 0), 'SIGINT');
  await running.exited();
  // npm itself may end by the signal. The servers do not get the signal, and must end by themselves.
  expect(running.output.match(/"event":"ending","reason":"SIGTERM"/g)).toHaveLength(2);
  expect(running.output).not.toContain('has ended');
  expect(await refusesConnections(place.issuer)).toBe(true);
  expect(await refusesConnections(place.resource)).toBe(true);
});

test('SIGTERM to npm start, as from a supervisor, ends both servers after their current requests', async () => {
  await using place = await home();
  await using running = await startProcess('npm', ['start'], {
    cwd: ROOT,
    env: place.env,
    ready: (output) => output.includes('ready.'),
  });
  // Clients at both servers that keep their connections busy.
  const origins = Array.from({ length: 6 }, () => [place.issuer, place.resource]).flat();
  const clients = origins.map((origin) => keepAsking(`${origin}/health/live`));
  await until(() => clients.every(({ answers }) => answers.length > 5));
  running.signal('SIGTERM');
  const ends = await Promise.all(clients.map(({ end }) => end));
  expect(new Set(ends)).toEqual(new Set(['told to close']));
  expect(new Set(clients.flatMap(({ answers }) => answers))).toEqual(new Set([200]));
  await until(() => refusesConnections(place.issuer));
  await until(() => refusesConnections(place.resource));
  await until(
    () => (running.output.match(/"event":"ending","reason":"SIGTERM"/g) ?? []).length === 2,
  );
});

test.each(['SIGQUIT', 'SIGUSR2'] as const)(
  '%s ends both servers as SIGTERM does',
  async (signal) => {
    await using place = await home();
    await using running = await place.start();
    running.signal(signal);
    await running.exited();
    expect(running.exitCode).toBe(0);
    expect(running.output.match(/"event":"ending","reason":"SIGTERM"/g)).toHaveLength(2);
  },
);

test('SIGUSR1 opens no debugger in any process, because any user of the machine could connect to it', async () => {
  await using place = await home();
  await using running = await place.start();
  const servers = ['authz-server', 'resource-server'];
  const workers = (await Promise.all(servers.map((name) => workersOf(running, name)))).flat();
  expect(workers).toHaveLength(2);
  const all = [running.pid ?? 0, ...workers];
  for (const pid of all) process.kill(pid, 'SIGUSR1');
  for (const origin of [place.issuer, place.resource]) {
    expect((await fetch(`${origin}/health/live`)).status).toBe(200);
  }
  expect(await interrupt(running)).toBe(0);
  expect(running.output).not.toContain('Debugger listening');
});

test.each(['authz', 'resource', 'proxy'] as const)(
  'a taken port gives an error with the setting listen.%s.port, and no process is left',
  async (name) => {
    await using place = await home();
    const other = createServer().listen(place.ports[name], '127.0.0.1');
    await once(other, 'listening');
    const { code, said } = await place.refused();
    other.close();
    expect(code).toBe(1);
    expect(said).toContain(
      `port ${place.ports[name]} is taken: end what runs there, or set listen.${name}.port`,
    );
    expect(await refusesConnections(place.issuer)).toBe(true);
    expect(await refusesConnections(place.resource)).toBe(true);
  },
);

test('a server that dies is started again, and no process is left if the parent is killed', async () => {
  await using place = await home();
  await using pair = await place.start();
  const folders = ['authz-server', 'resource-server'];
  for (const folder of folders) {
    const [worker = 0] = await workersOf(pair, folder);
    process.kill(worker, 'SIGKILL');
  }
  await until(async () => {
    const asked = await Promise.all([fetch(place.issuer), fetch(place.resource)]);
    return asked.every(({ status }) => status < 500);
  });
  expect(pair.output.match(/"level":"error".*"event":"worker.ended".*SIGKILL/g)).toHaveLength(2);
  await pair.kill('SIGKILL');
  await until(() => refusesConnections(place.issuer));
  await until(() => refusesConnections(place.resource));
});

describe('two workers of each server', () => {
  /** Sends new connections to this worker of the resource server: the other worker is paused. */
  async function onlyTo<T>(worker: number, action: () => Promise<T>): Promise<T> {
    const all = await workersOf(pair, 'resource-server');
    const others = all.filter((pid) => pid !== worker);
    for (const pid of others) process.kill(pid, 'SIGSTOP');
    try {
      return await action();
    } finally {
      for (const pid of others) process.kill(pid, 'SIGCONT');
    }
  }

  /**
   * Opens `count` connections at once, sends a request on each, and resolves to the statuses. The
   * connections stay open.
   */
  async function tellAll(port: number, count: number, ask: string) {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
    const statuses = await Promise.all(
      sockets.map(async (socket) => {
        socket.write(ask);
        const [head] = (await once(socket, 'data')) as [Buffer];
        return Number(head.toString().split(' ')[1]);
      }),
    );
    return { sockets, statuses };
  }

  let place: Home;
  let pair: RunningProcess;
  beforeAll(async () => {
    place = await home({
      server: { connections: { address: 40 } },
      proxy: { destinations: ['self'], tunnels: 8 },
    });
    pair = await place.start({}, '--workers', '2');
  });
  afterAll(async () => {
    await pair.kill();
    await place[Symbol.asyncDispose]();
  });

  test('make the demo data once, at the first start on an empty folder', async () => {
    const kept = await readFile(place.firstStart, 'utf8');
    expect(pair.output).toContain(kept.trim());
    expect(kept.match(/^client_secret/gm)).toHaveLength(1);
    expect(await paste(kept)).toContain('HTTP/1.1 200 OK');
    expect(banner(pair).filter((line) => line.includes('ready'))).toHaveLength(1);
  });

  test('have one memory arena each', async () => {
    for (const worker of await workersOf(pair, 'resource-server')) {
      const environment = (await readFile(`/proc/${worker}/environ`, 'utf8')).split('\0');
      expect(environment).toContain('MALLOC_ARENA_MAX=1');
    }
  });

  test('together accept no more connections of one address than a single worker would', async () => {
    const ask = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const { sockets, statuses } = await tellAll(place.ports.resource, 60, ask);
    for (const socket of sockets) socket.destroy();
    const taken = statuses.filter((status) => status === 200).length;
    expect(taken).toBeLessThanOrEqual(40);
    expect(taken).toBeGreaterThan(20); // both workers have some
  });

  test('together open as many tunnels for one account as one worker would: two of ten at once', async () => {
    const password = /^password +(\S+)$/m.exec(await readFile(place.firstStart, 'utf8'))?.[1];
    const target = new URL(place.resource).host;
    const ask = `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: Basic ${btoa(`demo:${password}`)}\r\n\r\n`;
    const { sockets, statuses } = await tellAll(place.ports.proxy, 10, ask);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(statuses.filter((status) => status === 503)).toHaveLength(8);
    for (const socket of sockets) socket.destroy();
    await until(async () => {
      const again = await tellAll(place.ports.proxy, 1, ask);
      for (const socket of again.sockets) socket.destroy();
      return again.statuses[0] === 200;
    });
  });

  test('a token revoked through one worker is refused by each from the next request on', async () => {
    const secret = /^client_secret +(\S+)$/m.exec(await readFile(place.firstStart, 'utf8'))?.[1];
    const authorization = `Basic ${btoa(`demo-machine:${secret}`)}`;
    /** Sends a request to each worker, one after another. */
    const each = async (ask: string) => {
      const said: number[] = [];
      for (const worker of await workersOf(pair, 'resource-server')) {
        const { statuses } = await onlyTo(worker, () => tellAll(place.ports.resource, 1, ask));
        said.push(...statuses);
      }
      return said;
    };
    const statuses: number[] = [];
    for (let time = 0; time < 5; time += 1) {
      const token = await demoToken(place);
      const ask = `GET /documents/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
      const before = await each(ask);
      const body = new URLSearchParams({ token });
      const headers = { authorization, connection: 'close' };
      await fetch(`${place.issuer}/token/revocation`, { method: 'POST', headers, body });
      statuses.push(...before, ...(await each(ask)));
    }
    expect(statuses).toEqual(Array.from({ length: 5 }, () => [200, 200, 401, 401]).flat());
  });

  test('a worker that cannot open files is started again until it can', async () => {
    const pid = String(pair.pid);
    const listening = () => pair.output.match(/"event":"listening"/g)?.length ?? 0;
    const before = listening();
    const [first = 0] = await workersOf(pair, 'authz-server');
    await run('prlimit', ['--pid', pid, '--nofile=3:']);
    process.kill(first, 'SIGKILL');
    await until(() => /"worker\.ended".*EMFILE/.test(pair.output));
    await run('prlimit', ['--pid', pid, '--nofile=4096:']);
    await until(() => listening() === before + 1);
  });

  test('if a worker is killed, only its connections break, a new worker starts, and SIGTERM ends all after their answers', async () => {
    const workers = await workersOf(pair, 'resource-server');
    const [first = 0] = workers;
    const clients: ReturnType<typeof keepAsking>[] = [];
    for (const worker of workers) {
      await onlyTo(worker, async () => {
        const some = [1, 2, 3].map(() => keepAsking(`${place.resource}/health/live`));
        await until(() => some.every(({ answers }) => answers.length > 5));
        clients.push(...some);
      });
    }
    let over = 0;
    for (const { end } of clients) void end.then(() => (over += 1));
    process.kill(first, 'SIGKILL');
    const broken = await Promise.race(clients.map(({ end }) => end));
    expect(broken).toMatch(/ECONNRESET|hang up/);
    await until(async () => {
      const now = await workersOf(pair, 'resource-server');
      return now.length === 2 && !now.includes(first);
    });
    const before = clients.map(({ answers }) => answers.length);
    await until(() => clients.some(({ answers }, at) => answers.length > (before[at] ?? 0)));
    clients.push(...Array.from({ length: 6 }, () => keepAsking(`${place.resource}/health/live`)));
    await until(() => clients.slice(6).every(({ answers }) => answers.length > 0));
    // in a burst the faster worker gets more connections; twelve are fewer than one worker's limit
    const killed = over;
    expect(await interrupt(pair)).toBe(0);
    const ends = await Promise.all(clients.map(({ end }) => end));
    const count = (told: RegExp) => ends.filter((end) => told.test(end)).length;
    expect(count(/ECONNRESET|hang up/)).toBe(killed);
    expect(count(/told to close/)).toBe(12 - killed);
    expect(new Set(clients.flatMap(({ answers }) => answers))).toEqual(new Set([200]));
  });
});

describe('a server that is reachable from other machines is in production mode', () => {
  const PUBLIC = {
    COUNTERSIGN_ISSUER: 'https://auth.example',
    COUNTERSIGN_RESOURCE: 'https://api.example',
    COUNTERSIGN_SECRET: 'x'.repeat(32),
    COUNTERSIGN_WORKERS: '1',
  };

  test.each([
    ['a listener', { listen: { authz: { host: '0.0.0.0' } } }, {}, /issuer.*https/],
    ['an http issuer', { issuer: 'http://auth.example' }, {}, /issuer.*https/],
    ['no secret', {}, { ...PUBLIC, COUNTERSIGN_SECRET: '' }, /COUNTERSIGN_SECRET.*is missing/],
    ['a short secret', {}, { ...PUBLIC, COUNTERSIGN_SECRET: 'short' }, /\n {2}.*shorter than 32/],
  ])('%s is refused with the reason', async (_what, more, extra, reason) => {
    await using place = await home(more);
    const { code, said } = await place.refused(extra);
    expect(code).toBe(1);
    expect(said).toMatch(reason);
    expect(said.match(/The configuration (?:of \S+ )?cannot be used|"event"/g)).toHaveLength(1);
    expect(existsSync(join(place.data, 'secret'))).toBe(false);
    expect(existsSync(place.firstStart)).toBe(false);
  });

  test('if the public issuer is not reachable from inside, tokens are accepted all the same', async () => {
    await using place = await home();
    await using pair = await place.start(PUBLIC);
    const main = entryFile('shared/cli/main.ts');
    const machine = ['--name', 'Machine', '--grant', 'client_credentials'];
    const add = ['client', 'add', ...machine, '--scope', 'documents:read', '--json'];
    const env = { ...place.env, ...PUBLIC };
    const added = JSON.parse((await run(process.execPath, [main, ...add], { env })).stdout);
    const client = btoa(`${added.client_id}:${added.client_secret}`);
    const answer = await fetch(`${place.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${client}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${place.resource}/documents/`, { headers })).status).toBe(200);
    expect((await fetch(`${place.resource}/health/ready`)).status).toBe(200);
    expect(await interrupt(pair)).toBe(0);
  });

  test('with all required settings it starts one worker of each server per core, without a demo client', async () => {
    await using place = await home();
    await using pair = await place.start({ ...PUBLIC, COUNTERSIGN_WORKERS: '' });
    const workers = Math.min(availableParallelism(), 8);
    const listening = () => pair.output.match(/"event":"listening"/g)?.length ?? 0;
    await until(() => listening() >= 2 * workers);
    expect(listening()).toBe(2 * workers);
    expect(banner(pair).join('\n')).toContain('Register a client');
    expect(existsSync(place.firstStart)).toBe(false);
    expect(await interrupt(pair)).toBe(0);
  });

  test('the demo client of an earlier start gets no token in production', async () => {
    await using place = await home();
    await using development = await place.start();
    expect(await interrupt(development)).toBe(0);
    const secret = /^client_secret +(\S+)$/m.exec(await readFile(place.firstStart, 'utf8'))?.[1];
    // The keys are sealed under the secret of the first start.
    const sealed = await readFile(join(place.data, 'secret'), 'utf8');
    await using pair = await place.start({ ...PUBLIC, COUNTERSIGN_SECRET: sealed });
    const response = await fetch(`${place.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`demo-machine:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    expect(response.status).toBe(401);
    expect(await interrupt(pair)).toBe(0);
  });
});

test('COUNTERSIGN_POSTGRES_URL and COUNTERSIGN_REDIS_URL: the pair uses both, writes no embedded store, and runs on when its log reader ends', async () => {
  await using shared = await startSharedStore({ password: 'swordfish' });
  await using place = await home();
  const extra = {
    COUNTERSIGN_POSTGRES_URL: shared.postgres.url,
    COUNTERSIGN_REDIS_URL: shared.redis.url,
  };
  await using pair = await place.start(extra);
  expect(pair.output).toContain('Redis (single)');
  expect(pair.output).not.toContain('swordfish');
  expect(existsSync(join(place.data, 'state.db'))).toBe(false);
  pair.hangUp();
  for (let time = 0; time < 3; time += 1) {
    const authorization = `Bearer ${await demoToken(place)}`;
    const answer = await fetch(`${place.resource}/documents/`, { headers: { authorization } });
    expect(answer.status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 30)); // each server has written log lines by then
  }
  expect(await interrupt(pair)).toBe(0);
});

test('an error message names a data folder that cannot be made, or a PostgreSQL that is down', async () => {
  await using place = await home();
  const url = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
  const without = await place.refused({ COUNTERSIGN_POSTGRES_URL: url });
  expect([without.code, without.said]).toEqual([1, expect.stringContaining('PostgreSQL')]);
  await mkdir(join(place.data, 'state.db'), { recursive: true });
  const blocked = await place.refused();
  expect([blocked.code, blocked.said]).toEqual([1, expect.stringContaining('state.db')]);
});

import { execFile } from 'node:child_process';
import { open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DigestClient } from 'digest-fetch';
import { OUTAGES, type Outage } from '../docs/outages-data.ts';
import { entryFile } from '../parts/entry.ts';
import { failingFiles } from '../parts/failing-files.ts';
import { freePort } from '../parts/free-port.ts';
import { type RunningProcess, startProcess, until } from '../parts/process.ts';
import { home, type Home, START } from './home.ts';

const CLI = entryFile('shared/cli/main.ts');
const LONG = 'x'.repeat(40_000);
const PAGE = 4096;
/** The client of the test of several rounds. */
const ROUNDS = 'rounds';
/** Both servers on a small disk, on which every call can be made to fail. */
const DISK = 'mkdir -p "$0" && mount -t tmpfs -o size=96m tmpfs "$0" && exec "$@"';

let place: Home;
let files: Awaited<ReturnType<typeof failingFiles>>;
let running: RunningProcess;
/** The data folder as the servers see it, by a path from outside. */
let data: string;
let metrics: number;
let credentials: string;
let bearer: string;
/** A token to revoke in each test. */
const tokens = new Map<string, string>();
/**
 * The credentials of another client for each test. The first token of a client in a minute waits for its event in the
 * audit log; a client that had a token in this minute needs no event, and so no room.
 */
const clients = new Map<string, string>();
let password: string;

/** A request with Digest, which stores each nonce in `transient.db`. */
async function digestStatus(): Promise<number> {
  const client = new DigestClient('demo', password, { algorithm: 'SHA-256' });
  const answer = await client.fetch(`${place.resource}/dav/`);
  await answer.text();
  return answer.status;
}

const token = (authorization = credentials) =>
  fetch(`${place.issuer}/token`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });

/** The status for a client that has had no token. */
const tokenStatus = async (what: string) => {
  const answer = await token(clients.get(what));
  await answer.arrayBuffer();
  return answer.status;
};

async function addClient(what: string): Promise<void> {
  const args = ['--name', what, '--grant', 'client_credentials', '--scope', 'documents:read'];
  const command = [process.execPath, CLI, 'client', 'add', ...args, '--json'];
  const within = ['--target', String(running.pid), '--user', '--mount', '--preserve-credentials'];
  const env = { ...place.env, COUNTERSIGN_DATA: join(place.data, 'data') };
  const { stdout } = await promisify(execFile)('nsenter', [...within, ...command], { env });
  const added = JSON.parse(stdout) as {
    readonly client_id: string;
    readonly client_secret: string;
  };
  clients.set(what, `Basic ${btoa(`${added.client_id}:${added.client_secret}`)}`);
}

const revoke = async (jwt: string) => {
  const answer = await fetch(`${place.issuer}/token/revocation`, {
    method: 'POST',
    headers: { authorization: credentials },
    body: new URLSearchParams({ token: jwt }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

async function statusOf(method: string, path: string, body?: string): Promise<number> {
  const headers = { authorization: bearer };
  const answer = await fetch(`${place.resource}/documents/${path}`, {
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

beforeAll(async () => {
  metrics = await freePort();
  place = await home();
  const listen = { ...place.config.listen, metrics: { port: metrics } };
  await writeFile(place.file, JSON.stringify({ ...place.config, listen }));
  const folder = join(place.data, 'data');
  files = await failingFiles(folder, dirname(place.file));
  const command = ['--map-root-user', '--mount', 'sh', '-c', DISK, place.data];
  running = await startProcess('unshare', [...command, process.execPath, START], {
    env: { ...place.env, ...files.env, COUNTERSIGN_DATA: folder },
    ready: (output) => output.includes('ready.'),
  });
  data = `/proc/${running.pid}/root${folder}`;
  const firstStart = await readFile(join(data, 'first-start.txt'), 'utf8');
  const secret = /^client_secret +(\S+)$/m.exec(firstStart)?.[1];
  password = /^password +(\S+)$/m.exec(firstStart)?.[1] ?? '';
  credentials = `Basic ${btoa(`demo-machine:${secret}`)}`;
  const accessToken = async () =>
    ((await (await token()).json()) as { readonly access_token: string }).access_token;
  bearer = `Bearer ${await accessToken()}`;
  expect(await statusOf('PUT', 'reserve', 'short')).toBe(201);
  await addClient(ROUNDS);
  for (const { fault } of OUTAGES) {
    await addClient(fault);
    tokens.set(fault, await accessToken());
    for (const path of [fault, `${fault}-gone`, `${fault}-put`]) {
      expect(await statusOf('PUT', path, 'short')).toBe(201);
      expect(await statusOf('PUT', `${path}-long`, LONG)).toBe(201);
    }
  }
});
afterAll(async () => {
  await running?.kill('SIGTERM');
  await place?.[Symbol.asyncDispose]();
});

async function fill(): Promise<void> {
  await using filler = await open(join(data, 'filler'), 'a');
  for (let size = 65_536; size >= 1;) {
    const { bytesWritten } = await filler
      .write(Buffer.alloc(size))
      .catch(() => ({ bytesWritten: 0 }));
    if (bytesWritten < size) size >>= 2;
  }
}

/** Fills the disk again after each file has given its reserve back, since the event of a token would fit into it. */
async function fillWithReserves(): Promise<void> {
  await fill();
  expect(await statusOf('DELETE', 'reserve')).toBe(204);
  await fill();
  expect(await digestStatus()).toBe(200);
  await fill();
}

/**
 * Replaces the database by a copy with damaged pages, except the first page, which SQLite reads at each opening.
 * No process has cached pages of the new file.
 */
async function damage(): Promise<void> {
  const file = join(data, 'state.db');
  const pages = await readFile(file);
  await writeFile(`${file}-damaged`, pages.fill(0xff, PAGE));
  for (const end of ['-wal', '-shm']) await rm(`${file}${end}`);
  await rename(`${file}-damaged`, file);
}

async function cutContent(): Promise<void> {
  const folder = join(data, 'content', '%2Fdocuments');
  for (const file of await readdir(folder)) await truncate(join(folder, file), 100);
}

const failing = (error: 'EACCES' | 'EIO' | 'EROFS') => ({
  begin: () => files.fail(error),
  end: () => files.work(),
});

const FAULTS: Readonly<Record<Outage['fault'], { begin(): Promise<void>; end?(): Promise<void> }>> =
  {
    full: { begin: fillWithReserves, end: () => rm(join(data, 'filler')) },
    'read-only': failing('EROFS'),
    permissions: failing('EACCES'),
    errors: failing('EIO'),
    moved: {
      begin: () => rename(data, `${data}-away`),
      end: () => rename(`${data}-away`, data),
    },
    content: { begin: cutContent },
    damaged: { begin: damage },
  };

const readiness = async (query = '') =>
  Promise.all(
    [place.issuer, place.resource].map(async (origin) => {
      const { status } = await fetch(`${origin}/health/ready${query}`);
      return status;
    }),
  );

const gauge = async (name: string) => {
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${name}\\{server="resource"\\} (\\d)$`, 'gm'))].map(
    ([, value]) => Number(value),
  );
};

test('on a full disk the answers stay the same, even if other processes use up freed space', async () => {
  const rounds = Array.from({ length: 5 }, (_, n) => `round-${n}`);
  for (const path of rounds) {
    expect(await statusOf('PUT', path, 'short')).toBe(201);
    expect(await statusOf('PUT', `${path}-long`, LONG)).toBe(201);
  }
  for (const path of rounds) {
    await fill();
    expect([path, await statusOf('PUT', `${path}-put`, 'short')]).toEqual([path, 507]);
    // Freed space is not used for long content either.
    expect([path, await statusOf('PUT', `${path}-put-long`, LONG)]).toEqual([path, 507]);
    await fill();
    expect([path, await statusOf('DELETE', path)]).toEqual([path, 204]);
    await fill();
    expect([path, await statusOf('DELETE', `${path}-long`)]).toEqual([path, 204]);
    await fill();
    expect([path, await digestStatus()]).toEqual([path, 200]);
    await fill();
    expect([path, await tokenStatus(ROUNDS)]).toEqual([path, 503]);
    await fill();
    const ready = [await readiness(), await readiness('?for=reading')];
    expect([path, ready]).toEqual([
      path,
      [
        [503, 503],
        [200, 200],
      ],
    ]);
  }
  await rm(join(data, 'filler'));
  await until(async () => [...(await readiness())].every((status) => status === 200));
  expect(await statusOf('PUT', 'round-0', LONG)).toBe(201);
});

test.each(OUTAGES)('$what: readiness, answers, log and metrics are as documented', async (row) => {
  const before = running.output.length;
  const path = row.fault;
  const { begin, end } = FAULTS[row.fault];
  await begin();
  for (const long of ['', '-long']) {
    const body = long === '' ? 'short' : LONG;
    expect([long, 'PUT', await statusOf('PUT', `${path}-put${long}`, body)]).toEqual([
      long,
      'PUT',
      row.put,
    ]);
    const expected = long === '' ? (row.getShort ?? row.get) : row.get;
    expect([long, 'GET', await statusOf('GET', `${path}${long}`)]).toEqual([long, 'GET', expected]);
  }
  // The first tokens may use a block of the limit that is in memory.
  await until(async () => (await tokenStatus(path)) === row.token);
  expect(await tokenStatus(path)).toBe(row.token);
  expect(await revoke(tokens.get(row.fault) ?? '')).toBe(row.revoke);
  expect([await readiness(), await readiness('?for=reading')]).toEqual([
    [expect.any(Number), row.ready],
    [expect.any(Number), row.reading],
  ]);
  // A scrape may return values from a moment ago.
  await until(
    async () => (await gauge('countersign_ready')).join() === (row.ready === 200 ? '1' : '0'),
  );
  expect(await gauge('countersign_ready_for_reading')).toEqual([row.reading === 200 ? 1 : 0]);
  expect(await statusOf('DELETE', `${path}-gone`)).toBe(row.remove);
  expect(await statusOf('DELETE', `${path}-gone-long`)).toBe(row.remove);
  const lines = running.output.slice(before).split('\n');
  const told = lines.filter((line) => line.includes(`"server":"resource","event":"${row.event}"`));
  expect(told.some((line) => line.includes(row.part) && line.includes(row.reason))).toBe(true);
  await end?.();
  if (end) {
    await until(async () => [...(await readiness())].every((status) => status === 200));
    expect(await statusOf('PUT', path, 'short')).toBe(204);
    expect(await tokenStatus(path)).toBe(200);
  }
  expect(running.output).not.toMatch(/worker\.ended|request\.failed/);
});

/** @needs prometheus promtool */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { examples } from '../pair/examples.ts';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { NODE, type RunningProcess, startProcess, until } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { home } from './home.ts';

const run = promisify(execFile);

/** Starts both servers with two workers each, a listener for metrics, and a space. */
async function scrapedPair() {
  const folder = await temporaryFolder();
  const ports = await Promise.all(Array.from({ length: 6 }, freePort));
  const [authz = 0, authzTls = 0, resource = 0, resourceTls = 0, proxy = 0, metrics = 0] = ports;
  const [issuer, origin] = [`http://localhost:${authz}`, `http://localhost:${resource}`];
  const file = join(folder.path, 'countersign.json');
  const config = {
    issuer,
    resource: origin,
    data: join(folder.path, 'data'),
    listen: {
      authz: { port: authz },
      authzTls: { port: authzTls },
      resource: { port: resource },
      resourceTls: { port: resourceTls },
      proxy: { port: proxy },
      metrics: { port: metrics },
    },
    spaces: [{ url: `${origin}/documents/`, realm: 'documents', schemes: ['Basic'] }],
  };
  await writeFile(file, JSON.stringify(config));
  const started = startProcess(
    process.execPath,
    [entryFile('shared/start/main.js'), '--workers', '2'],
    {
      env: { ...NODE, COUNTERSIGN_CONFIG: file },
      ready: (output) => output.includes('ready.'),
    },
  );
  const running = await started.catch(async (error: unknown) => {
    await folder[Symbol.asyncDispose]();
    throw error;
  });
  const scrape = async () => (await fetch(`http://localhost:${metrics}/metrics`)).text();
  /** The sum of a metric's series whose labels match. */
  async function valueOf(name: string, labels: RegExp = /./): Promise<number> {
    const lines = (await scrape()).split('\n').filter((line) => line.startsWith(`${name}{`));
    const values = lines.filter((line) => labels.test(line)).map((line) => line.split(' ').at(-1));
    return values.reduce((sum, value) => sum + Number(value), 0);
  }
  return {
    folder: folder.path,
    running,
    issuer,
    origin,
    metrics,
    scrape,
    valueOf,
    ask: (headers: Record<string, string> = {}) =>
      fetch(`${origin}/documents/a`, { headers: { ...headers, connection: 'close' } }),
    async [Symbol.asyncDispose]() {
      await running.kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The worker processes of the resource server. */
async function workersOf({ pid }: RunningProcess): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=,args=', '--ppid', String(pid)]);
  const lines = stdout
    .split('\n')
    .filter((line) => line.includes(entryFile('resource-server/main.ts')));
  return lines.map((line) => Number.parseInt(line, 10));
}

/** Runs `promtool` on the text; resolves to its exit code and output. */
async function promtool(args: readonly string[], text: string): Promise<[number | null, string]> {
  const tool = spawn('promtool', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  tool.stdin.end(text);
  const [said, wrong, [code]] = await Promise.all([
    textOf(tool.stdout),
    textOf(tool.stderr),
    once(tool, 'close') as Promise<[number | null]>,
  ]);
  return [code, said + wrong];
}

const REQUESTS = 'countersign_http_requests_total';

describe('metrics of both servers with two workers each', () => {
  let pair: Awaited<ReturnType<typeof scrapedPair>>;
  beforeAll(async () => {
    pair = await scrapedPair();
  });
  afterAll(() => pair[Symbol.asyncDispose]());

  test('add up the requests to both workers, and promtool accepts the text', async () => {
    const before = await pair.valueOf(REQUESTS, /status="401"/);
    for (let count = 0; count < 20; count += 1) await pair.ask();
    await until(async () => (await pair.valueOf(REQUESTS, /status="401"/)) === before + 20);
    const text = await pair.scrape();
    expect(await promtool(['check', 'metrics'], text)).toEqual([0, '']);
    for (const server of ['authz', 'resource']) {
      expect(text).toContain(`countersign_ready{server="${server}"} 1`);
      expect(text).toContain(`countersign_feed_trusted{server="${server}"} 1`);
      for (const worker of [1, 2]) {
        expect(text).toContain(`countersign_worker_up{server="${server}",worker="${worker}"} 1`);
        expect(text).toContain(`process_cpu_seconds_total{server="${server}",worker="${worker}"}`);
      }
    }
    expect(text).toContain('countersign_last_backup_timestamp_seconds{server="authz"} 0\n');
    expect(text).not.toContain('countersign_last_backup_timestamp_seconds{server="resource"}');
    expect(text).toMatch(/countersign_keys\{server="authz",state="signing"\} [1-9]/);
  });

  test("show with the guide's command that both servers are ready", async () => {
    const [command = ''] = await examples('docs/how-to/watch.md', 'sh metrics');
    const { stdout } = await run('bash', ['-c', command.replace('9464', String(pair.metrics))]);
    expect(stdout).toBe(
      'countersign_ready{server="authz"} 1\ncountersign_ready{server="resource"} 1\n',
    );
  });

  test('the playground works in each worker', async () => {
    const last = { 'scram-sha-256': 200, 'api-key': 200, cache: 200, connect: 200 };
    for (let round = 0; round < 4; round += 1) {
      for (const [name, status] of Object.entries(last)) {
        const { origin } = pair;
        const answer = await fetch(`${origin}/playground/${name}`, {
          method: 'POST',
          headers: { origin, connection: 'close', 'sec-fetch-site': 'same-origin' },
          body: new URLSearchParams({ mistake: '' }),
        });
        const page = await answer.text();
        const statuses = [...page.matchAll(/^(?:.*<pre>)?HTTP\/1\.1 (\d{3}) /gm)];
        expect([name, answer.status, Number(statuses.at(-1)?.[1])]).toEqual([name, 200, status]);
      }
    }
  });

  test('are not served on a public port', async () => {
    for (const origin of [pair.issuer, pair.origin]) {
      const { status } = await fetch(`${origin}/metrics`);
      expect(status).toBe(404);
    }
  });

  test("get no series for a client's own methods, paths, names or user agents", async () => {
    const evil = 'x"} 1\nfake_total{a="b';
    await pair.ask({ 'user-agent': 'fake_total', authorization: `Basic ${btoa(`${evil}:x`)}` });
    for (const method of ['FAKE', 'fake', 'QUERY']) {
      await fetch(`${pair.origin}/documents/fake%22%7D`, {
        method,
        headers: { connection: 'close' },
      });
    }
    await until(async () => (await pair.valueOf(REQUESTS, /method="QUERY"/)) > 0);
    expect(await pair.scrape()).not.toMatch(/fake/i);
  });

  test('are served while a worker is paused, and name that worker', async () => {
    const [still = 0] = await workersOf(pair.running);
    const before = await pair.valueOf(REQUESTS);
    process.kill(still, 'SIGSTOP');
    try {
      await until(async () => (await pair.valueOf('countersign_worker_up', /resource/)) === 1);
      expect(await pair.valueOf(REQUESTS)).toBeGreaterThanOrEqual(before);
    } finally {
      process.kill(still, 'SIGCONT');
    }
    await until(async () => (await pair.valueOf('countersign_worker_up', /resource/)) === 2);
  });

  test('lose nothing when a worker is killed', async () => {
    const before = await pair.valueOf(REQUESTS, /status="401"/);
    expect(before).toBeGreaterThan(0);
    for (const worker of await workersOf(pair.running)) process.kill(worker, 'SIGKILL');
    await until(async () => (await pair.ask().catch(() => undefined))?.status === 401);
    await until(async () => (await pair.valueOf('countersign_worker_up', /resource/)) === 2);
    await until(async () => (await pair.valueOf(REQUESTS, /status="401"/)) > before);
  });

  test('are scraped from both servers by Prometheus, which answers a query', async () => {
    const port = await freePort();
    const config = join(pair.folder, 'prometheus.yml');
    await writeFile(
      config,
      `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: countersign
    static_configs: [{ targets: ['localhost:${pair.metrics}'] }]
`,
    );
    const at = `http://127.0.0.1:${port}`;
    await using prometheus = await startProcess(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(pair.folder, 'tsdb')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { ready: async () => (await fetch(`${at}/-/ready`)).ok },
    );
    const query = async (promql: string) => {
      const answer = await fetch(`${at}/api/v1/query?query=${encodeURIComponent(promql)}`);
      const { data } = (await answer.json()) as {
        readonly data: {
          readonly result: readonly { readonly value: readonly [number, string] }[];
        };
      };
      return data.result.map(({ value: [, value] }) => Number(value));
    };
    await until(async () => (await query('min(countersign_ready)'))[0] === 1);
    await until(async () => ((await query(`sum(${REQUESTS}{space="documents"})`))[0] ?? 0) > 20);
    expect(prometheus.running).toBe(true);
    expect(await query('count(count by (server) (process_cpu_seconds_total))')).toEqual([2]);
  });
});

test('if the port for metrics is taken, the start fails with the reason', async () => {
  await using first = await scrapedPair();
  await using alone = await home();
  const listen = { ...alone.config.listen, metrics: { port: first.metrics } };
  await writeFile(alone.file, JSON.stringify({ ...alone.config, listen }));
  const { code, said } = await alone.refused({ COUNTERSIGN_WORKERS: '1' });
  expect(code).toBe(1);
  expect(said).toMatch(/^Metrics cannot be served: .*EADDRINUSE/m);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { longestLife, rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { openStores } from '#shared/stores/open.ts';
import { type ServerProcess, startPair } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { type Carried, CARRIED, ORIGIN, space, TOGETHER } from './carried.ts';
import { overWrk } from './http-load.ts';
import { compare, WARM_UP } from './measure.ts';
import { family } from './processes.ts';
import type { Findings, Table } from './report.ts';
import { always, type HttpRequest } from './requests.ts';
import { round } from './statistics.ts';
import { UNLIMITED } from './targets/countersign.ts';

const CONNECTIONS = 32;
const SCHEDULE = { rounds: 3, seconds: 2, warmUp: WARM_UP };

/** What a server can carry: time, memory and what a request costs without it and with it, on the embedded store. */
export async function measureScale(say: (line: string) => void): Promise<Findings> {
  const rows: Table['rows'][number][] = [];
  let errors = 0;
  for (const one of CARRIED) {
    say(`  ${one.what}`);
    const [row, failed] = await carry(one, say);
    rows.push(row);
    errors += failed;
  }
  return {
    tables: [{ title: `What it can carry: SQLite, ${CONNECTIONS} connections`, rows }],
    notes: [
      'Without and with: one after the other on the same data folder, the server started anew.',
    ],
    errors,
  };
}

async function carry(
  one: Carried,
  say: (line: string) => void,
): Promise<[Table['rows'][number], number]> {
  const { what, count, together = 1 } = one;
  await using pair = await startPair({
    settings: {
      ...UNLIMITED,
      resource: ORIGIN,
      spaces: [space(0)],
      server: { connections: { address: 20_000, total: 20_000 }, keepAliveTimeout: 3600 },
    },
  });
  const config = await loadConfig(pair.env);
  const common = { clock: systemClock, random: systemRandom, log: silentLog };
  await using stores = await openStores(config, { ...common, longestLife: longestLife(config) });
  const world = { pair, stores, until: rememberUntil(Date.now(), longestLife(config)) };
  const server = (one.server === 'authz' ? pair.authz : pair.resources)[0];
  if (server === undefined) throw new Error('there is no server');
  const request = await one.request(world);

  const without = await look(server, request, one.status, say);
  const begin = performance.now();
  const { fill } = one;
  if (fill !== undefined) {
    for (let number = 0; number < count; number += TOGETHER * together) {
      const numbers = Array.from({ length: TOGETHER }, (_, at) => number + at * together);
      await Promise.all(numbers.filter((at) => at < count).map((at) => fill(world, at)));
      if (number % (TOGETHER * 1000) === 0) say(`    ${number} of ${count}`);
    }
  }
  const filled = (performance.now() - begin) / 1000;
  if (one.settings !== undefined) {
    const file = join(pair.data, 'config-0.json');
    const before = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...before, ...one.settings(count) }));
  }
  using _ = (await one.hold?.(world, count)) ?? { [Symbol.dispose]: () => {} };
  const held = memory(server);
  const loaded = await look(server, request, one.status, say, one.hold === undefined);
  const row = {
    what,
    count,
    'made in s': fill ? round(filled, 1) : '',
    'start ms': `${without.start} -> ${one.hold ? '' : loaded.start}`,
    'at rest MiB': `${without.memory} -> ${one.hold ? held : loaded.memory}`,
    'us a request': `${round(without.cpu, 0)} -> ${round(loaded.cpu, 0)}`,
    'p50 ms': `${round(without.p50, 2)} -> ${round(loaded.p50, 2)}`,
    errors: without.errors + loaded.errors,
  };
  return [row, without.errors + loaded.errors];
}

/** Starts the server anew unless told not to, and asks it. */
async function look(
  server: ServerProcess,
  request: HttpRequest,
  status: number,
  say: (line: string) => void,
  anew = true,
) {
  const begin = performance.now();
  if (anew) {
    await server.kill('SIGTERM');
    await server.start();
    await until(async () => (await fetch(`${server.url}/health/ready`)).ok, 120_000);
  }
  const start = Math.round(performance.now() - begin);
  const rest = memory(server);
  const measured = {
    name: 'one',
    server: { url: server.url, pids: [server.pid ?? 0], [Symbol.asyncDispose]: async () => {} },
    load: always(request),
    answer: { status },
    forged: () => request,
  };
  const contender = {
    ...overWrk(measured, CONNECTIONS),
    probe: () => answers(server, request, status),
  };
  const [found] = await compare([contender], say, SCHEDULE);
  if (found === undefined) throw new Error('nothing was measured');
  const { cpu, errors, latency } = found;
  return { start, memory: rest, cpu, errors, p50: latency?.p50 ?? Number.NaN };
}

async function answers(
  { url }: ServerProcess,
  { method, path, fields, body }: HttpRequest,
  status: number,
): Promise<void> {
  const init = { method, headers: { ...fields }, ...(body !== undefined && { body }) };
  const got = await fetch(url + path, init);
  if (got.status !== status)
    throw new Error(`${path} was answered ${got.status} ${await got.text()}`);
}

/** MiB that the server holds now (VmRSS of proc_pid_status(5)). */
function memory({ pid = 0 }: ServerProcess): number {
  const kilobytes = family(pid).map((one) =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0),
  );
  return Math.round(kilobytes.reduce((sum, one) => sum + one, 0) / 1024);
}

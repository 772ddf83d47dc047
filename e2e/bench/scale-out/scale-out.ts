import { closedLoop } from '../closed-loop.ts';
import { cpuTime } from '../cpu.ts';
import type { Findings } from '../report.ts';
import { SETTINGS } from '../site.ts';
import { startCountersign } from '../targets/countersign.ts';
import { startServedStore, type StoreName } from '../targets/stores.ts';
import { measureFeed } from './feed.ts';
import { type Operation, operationsOf } from './operations.ts';

/** The stores for several machines, with the number of processes of each server. */
const WHOLE: readonly (readonly [StoreName, number])[] = [
  ['PostgreSQL', 1],
  ['PostgreSQL, Redis', 1],
  ['PostgreSQL, Redis', 2],
  ['PostgreSQL, Redis', 4],
];
const QUICK = WHOLE.slice(0, 2);
const AT_ONCE = 8;
/** Measured requests of each operation, and warm-up requests before. */
const COUNTED = { whole: 400, quick: 100 };
const WARM = { whole: 100, quick: 20 };

/** Revocations that measure the feed. */
const REVOKED = { whole: 40_000, quick: 10_000 };

type Row = Findings['tables'][number]['rows'][number];

/** Measures the CPU time of each operation, for the servers and for their common store. */
export async function measureScaleOut(
  say: (line: string) => void,
  quick: boolean,
): Promise<Findings> {
  const form = quick ? 'quick' : 'whole';
  const rows: Row[] = [];
  const feed = await measureFeed(REVOKED[form]);
  let errors = 0;
  for (const [name, processes] of quick ? QUICK : WHOLE) {
    say(`${name}, ${processes} processes of each server`);
    await using stack = new AsyncDisposableStack();
    const store = await startServedStore(name, stack);
    const options = { ...(store && { store }), ...(processes > 1 && { workers: processes }) };
    const servers = stack.use(await startCountersign(SETTINGS, options));
    for (const operation of await operationsOf(servers, WARM[form] + COUNTED[form])) {
      const { cost, failed } = await measure(operation, form);
      rows.push({ store: name, processes, operation: operation.name, ...cost, errors: failed });
      errors += failed;
    }
  }
  return {
    tables: [feed, { title: 'An operation on a store for several machines', rows }],
    notes: [
      'cpu us: of the servers; store us: of PostgreSQL and Redis. All requests come from one address, and documents are in',
      'one tree.',
    ],
    errors,
  };
}

async function measure(operation: Operation, form: 'quick' | 'whole') {
  const { pids, store = [] } = operation.server;
  await visitAll(operation, 0, WARM[form]);
  const used = () => ({ cpu: cpuTime(...pids), store: cpuTime(...store) });
  const before = used();
  const { count, errors: failed } = await visitAll(operation, WARM[form], COUNTED[form]);
  const after = used();
  const cost = {
    'cpu us': Math.round((after.cpu - before.cpu) / count),
    'store us': Math.round((after.store - before.store) / count),
  };
  return { cost, failed };
}

/** Sends the requests from that number on, some at a time. */
function visitAll({ server, status, request, answered }: Operation, from: number, count: number) {
  let next = from;
  async function visit(n: number): Promise<void> {
    const { method, path, fields: headers, body } = await request(n);
    const init = {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    } as const;
    const answer = await fetch(server.url + path, init);
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`answered ${answer.status} ${text}`);
    answered?.(text);
  }
  return closedLoop(() => (next < from + count ? visit(next++) : undefined), AT_ONCE, Infinity);
}

import { closedLoop } from './closed-loop.ts';
import { acknowledge, Arrivals, deliver, openPool } from './push-arrivals.ts';
import { subscribe, type Subscription } from './push-crowd.ts';
import { held, type Idle, idleCost } from './push-idle.ts';
import type { PushSite } from './push-site.ts';
import { openWaiters, type Way } from './push-waiters.ts';
import type { Table } from './report.ts';
import { percentile, round } from './statistics.ts';

/** The number of waiting user agents, each at its own subscription. */
export const WAITERS = 1000;
/** Connections that send messages to all user agents. */
export const SENDERS = 16;
/** Seconds, longer than all messages take. */
const LONG = 300;

const WAYS: Readonly<Record<string, Way>> = {
  'events, HTTP/1.1': { by: 'events' },
  'events, HTTP/2, 50 on a connection': { by: 'events', streams: 50 },
  'server push, 50 on a connection': { by: 'push', streams: 50 },
  'server push, a connection each': { by: 'push', streams: 1 },
};

/** A row with all columns in their order. */
const NOBODY = {
  waiting: 'nobody',
  'heap KiB each': '',
  'rss KiB each': '',
  'all told s': '',
  'p50 ms': '',
  'p99 ms': '',
  'idle cpu ms/s': 0,
  errors: 0,
};

type Row = Table['rows'][number];

/** Measures waiting user agents while nothing happens, and until each has got a message. */
export async function measureWaiting(
  title: string,
  site: PushSite,
  say: (line: string) => void,
): Promise<{ readonly table: Table; readonly errors: number }> {
  const all = await subscribe(site.stores, WAITERS, 'vapid');
  for (const way of Object.values(WAYS)) await visitAll(site, way, all); // V8 compiles the code
  say('  nobody waits');
  const rows: Row[] = [{ ...NOBODY, ...idleRow(await idleCost(site.one, site.store)) }];
  let errors = 0;
  for (const [name, way] of Object.entries(WAYS)) {
    say(`  ${WAITERS} wait: ${name}`);
    const { row, errors: wrong } = await measure(site, way, all);
    rows.push({ waiting: name, ...row, errors: wrong });
    errors += wrong;
  }
  return { table: { title, rows }, errors };
}

async function measure(site: PushSite, way: Way, all: readonly Subscription[]) {
  const arrivals = new Arrivals();
  const before = await held(site.one);
  await using waiters = await openWaiters(site.one, way, all, arrivals.arrived);
  const idle = await idleCost(site.one, site.store);
  const after = await held(site.one);
  const { took, seconds, errors } = await sendToAll(site, all, arrivals);
  const each = (name: 'heap' | 'rss') => round((after[name] - before[name]) / WAITERS / 1024, 1);
  return {
    row: {
      ...idleRow(idle),
      'heap KiB each': each('heap'),
      'rss KiB each': each('rss'),
      'all told s': round(seconds, 2),
      'p50 ms': round(percentile(took, 0.5), 2),
      'p99 ms': round(percentile(took, 0.99), 2),
    },
    errors: errors + waiters.lost(),
  };
}

/** Runs the work as `measure` does, without results. */
async function visitAll(site: PushSite, way: Way, all: readonly Subscription[]): Promise<void> {
  const arrivals = new Arrivals();
  await using _ = await openWaiters(site.one, way, all, arrivals.arrived);
  await sendToAll(site, all, arrivals);
}

/**
 * Resolves once each user agent has got a message. Then acknowledges all, so that they are not repeated.
 */
async function sendToAll({ one }: PushSite, all: readonly Subscription[], arrivals: Arrivals) {
  await using stack = new AsyncDisposableStack();
  const pool = stack.adopt(openPool(one, SENDERS), (open) => open.close());
  const delivered: Awaited<ReturnType<typeof deliver>>[] = [];
  const left = [...all];
  const visit = () => {
    const to = left.shift();
    return to && visitOne(to);
  };
  async function visitOne(to: Subscription): Promise<void> {
    delivered.push(await deliver(pool, to, arrivals));
  }
  const { seconds, errors } = await closedLoop(visit, SENDERS, LONG);
  await Promise.all(delivered.map(({ path }) => acknowledge(pool, path)));
  const took = delivered.map(({ took: milliseconds }) => milliseconds);
  return { took, seconds, errors: errors + arrivals.strange };
}

const idleRow = ({ cpu, store }: Idle): Row => ({
  'idle cpu ms/s': round(cpu, 1),
  ...(store !== undefined && { 'store ms/s': round(store, 1) }),
});

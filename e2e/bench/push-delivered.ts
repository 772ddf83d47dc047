import { setTimeout as delay } from 'node:timers/promises';
import { closedLoop } from './closed-loop.ts';
import type { Server } from './cpu.ts';
import { probe } from './http-load.ts';
import type { Contender, Run } from './measure.ts';
import { acknowledge, Arrivals, deliver, openPool, send } from './push-arrivals.ts';
import { BURST, subscribe, type Subscription } from './push-crowd.ts';
import { forgedMessage, messageTo, newBody } from './push-messages.ts';
import type { PushSite } from './push-site.ts';
import { openWaiters, type Way } from './push-waiters.ts';
import { always } from './requests.ts';
import { percentile } from './statistics.ts';

/** Messages in transit at a time, each to another user agent. */
export const AT_ONCE = 32;
/**
 * Messages in transit to another process, which polls four times a second: fewer messages would leave both
 * processes idle.
 */
export const AT_ONCE_ELSEWHERE = 512;
/** User agents per message in transit. Together they get 200 messages. */
const WAITING = 2;

/** Milliseconds between two polls of a process for other processes' messages. */
const LOOK = 250;

interface Row {
  readonly name: string;
  /** Absent: no user agent waits. */
  readonly way?: Way;
  /**
   * Whether the user agents wait at the other process; default: at the process that accepts the messages.
   */
  readonly elsewhere?: boolean;
  readonly acknowledges?: boolean;
  /**
   * Sends each message at a random moment between two polls. Otherwise messages to another process would
   * follow its polls.
   */
  readonly paced?: boolean;
}

const EVENTS: Way = { by: 'events', streams: 16 };
const PUSH: Way = { by: 'push', streams: 16 };

const ROWS: readonly Row[] = [
  { name: 'taken, nobody waits' },
  { name: 'events, HTTP/1.1', way: { by: 'events' } },
  { name: 'events, HTTP/2', way: EVENTS },
  { name: 'events, HTTP/2, and DELETE', way: EVENTS, acknowledges: true },
  { name: 'server push', way: PUSH },
  { name: 'events, HTTP/2, other process', way: EVENTS, elsewhere: true },
  { name: 'server push, other process', way: PUSH, elsewhere: true },
  { name: 'paced: events, HTTP/2', way: EVENTS, paced: true },
  { name: 'paced: events, other process', way: EVENTS, elsewhere: true, paced: true },
  { name: 'paced: server push, other process', way: PUSH, elsewhere: true, paced: true },
];

/** Messages that are sent and arrive. Each run has its own subscriptions, restricted to keys. */
export const delivering = (site: PushSite): readonly Contender[] =>
  ROWS.map((row) => contender(site, row));

function contender({ one, other, stores }: PushSite, row: Row): Contender {
  const { name, way, elsewhere = false, acknowledges = false, paced = false } = row;
  const atOnce = elsewhere && !paced ? AT_ONCE_ELSEWHERE : AT_ONCE;
  const at = elsewhere ? other : one;
  const server: Server = { ...one, pids: elsewhere ? [...one.pids, ...other.pids] : one.pids };

  async function prepare(seconds: number): Promise<() => Promise<Run>> {
    await using stack = new AsyncDisposableStack();
    const all = await subscribe(stores, WAITING * atOnce, 'vapid');
    const arrivals = new Arrivals();
    const waiters = way && stack.use(await openWaiters(at, way, all, arrivals.arrived));
    const pool = stack.adopt(openPool(one, atOnce), (open) => open.close());
    const kept = stack.move();
    const took: number[] = [];
    async function visit(to: Subscription): Promise<void> {
      if (waiters === undefined) return void (await send(pool, to, newBody()));
      if (paced) await delay(Math.random() * LOOK);
      const { path, took: milliseconds } = await deliver(pool, to, arrivals);
      if (acknowledges) await acknowledge(pool, path);
      took.push(milliseconds);
    }
    return async () => {
      await using _ = kept;
      const done = await closedLoop(inTurn(all, visit), atOnce, seconds);
      const { latency: __, ...run } = done;
      return {
        ...run,
        errors: run.errors + arrivals.strange + (waiters?.lost() ?? 0),
        ...(waiters && { latency: { p50: percentile(took, 0.5), p99: percentile(took, 0.99) } }),
      };
    };
  }

  return {
    name,
    server,
    async probe() {
      const [to] = await subscribe(stores, 1, 'vapid');
      if (to === undefined) throw new Error('there is no subscription');
      const { request, refusal } = forgedMessage(to);
      const load = always(messageTo(to));
      await probe({ name, server, load, answer: { status: 201 }, forged: () => request, refusal });
    },
    prepare,
  };
}

/** Visits the subscriptions in rotation, each up to its limit of messages. */
export function inTurn(
  all: readonly Subscription[],
  visit: (to: Subscription) => Promise<void>,
): () => Promise<void> | undefined {
  const free = Array.from(all, (to) => ({ to, visits: 0 }));
  return () => {
    const next = free.shift();
    if (next === undefined) return undefined;
    return visit(next.to).finally(() => {
      next.visits += 1;
      if (next.visits < BURST) free.push(next);
    });
  };
}

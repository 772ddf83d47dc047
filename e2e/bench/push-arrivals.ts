import { Pool } from 'undici';
import type { Server } from './cpu.ts';
import type { Subscription } from './push-crowd.ts';
import type { Arrived, Message } from './push-events.ts';
import { messageTo, newBody } from './push-messages.ts';

/** Milliseconds after which a missing message is an error. */
const PATIENCE = 10_000;

interface Arrival extends Message {
  /** The arrival in milliseconds of the monotonic clock. */
  readonly at: number;
}

/** Tracks the messages in transit, at most one per subscription. */
export class Arrivals {
  readonly #expected = new Map<string, (arrival: Arrival) => void>();
  #strange = 0;

  readonly arrived: Arrived = (push, message) => {
    const expected = this.#expected.get(push);
    this.#expected.delete(push);
    if (expected === undefined) this.#strange += 1;
    else expected({ ...message, at: performance.now() });
  };

  /** The number of arrivals that were not sent, or that came a second time. */
  get strange(): number {
    return this.#strange;
  }

  /** Resolves to the next arrival; rejects if there is none. */
  async next({ push }: Subscription): Promise<Arrival> {
    const { promise, resolve, reject } = Promise.withResolvers<Arrival>();
    this.#expected.set(push, resolve);
    const timer = setTimeout(() => {
      if (this.#expected.get(push) === resolve) this.#expected.delete(push);
      reject(new Error('a message has not arrived'));
    }, PATIENCE);
    return promise.finally(() => clearTimeout(timer));
  }
}

/** Connections for sending and acknowledging messages. */
export const openPool = ({ url }: Pick<Server, 'url'>, connections: number) =>
  new Pool(url, { connections });

/** Sends a message. Resolves to its path; rejects if it is refused. */
export async function send(pool: Pool, to: Subscription, body: string): Promise<string> {
  const { fields: headers, method, path } = messageTo(to, body);
  const answer = await pool.request({ method, path, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode !== 201)
    throw new Error(`a message was answered ${answer.statusCode} ${text}`);
  return new URL(String(answer.headers['location'])).pathname;
}

/** Acknowledges a message (RFC 8030 section 6.2). */
export async function acknowledge(pool: Pool, path: string): Promise<void> {
  const answer = await pool.request({ method: 'DELETE', path });
  await answer.body.dump();
  if (answer.statusCode !== 204) throw new Error(`DELETE was answered ${answer.statusCode}`);
}

/**
 * Sends a message to a waiting user agent. Resolves to its path, and to the milliseconds from the answer
 * 201 to the arrival (negative if the message came first). Rejects unless exactly this message arrives.
 */
export async function deliver(
  pool: Pool,
  to: Subscription,
  arrivals: Arrivals,
): Promise<{ path: string; took: number }> {
  const body = newBody();
  const arriving = arrivals.next(to);
  const sending = send(pool, to, body).then((path) => ({ path, at: performance.now() }));
  const [sent, arrival] = await Promise.all([sending, arriving]);
  if (arrival.path !== sent.path || arrival.body !== body) {
    throw new Error(`another message arrived: ${arrival.path} ${arrival.body}`);
  }
  return { path: sent.path, took: arrival.at - sent.at };
}

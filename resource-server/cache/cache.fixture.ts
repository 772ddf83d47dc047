import { type Clock, ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { HttpError } from '#shared/http/answer.ts';
import { groupOf } from '#shared/http/spelling.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { Sink } from '../forwarding/sink.ts';
import { wholeOf } from '../answers/pieces.ts';
import { type Cache, createCache } from './cache.ts';
import type { CacheParts } from './parts.ts';
import { Bans } from './purge/bans.ts';
import { testSink, TestExchange } from './sink.fixture.ts';
import { MemoryStore } from './store/memory.ts';

/** A cache without a server: the test is the application. */
export function testCache(maxBytes = 1024 * 1024, changes: Partial<CacheParts> = {}) {
  const clock = new ManualClock();
  const store = changes.store ?? new MemoryStore(maxBytes);
  const bans = new Bans({ store, spelling: { depth: 0, normal: groupOf }, log: silentLog });
  const cache = createCache({
    rules: {
      shared: true,
      heuristic: false,
      targeted: [],
      made: new Set(),
      origin: 'https://rs.example',
    },
    store,
    bans,
    feed: { latest() {} },
    invalidate: async (all) => {
      for (const one of all) cache.forget(one);
    },
    writable: async () => {},
    clock,
    random: systemRandom,
    ...changes,
  });
  return { cache, store, bans, clock, ...clientsOf(cache, clock) };
}

/** Clients of a cache, and its application. */
export function clientsOf(cache: Cache, clock: Clock) {
  /** The requests that reached the application, and how the test answers. */
  const asked: Forwarded[] = [];
  const exchanges: TestExchange[] = [];

  function ask(method = 'GET', target = '/a', headers: Record<string, string> = {}) {
    const exchange = new TestExchange();
    exchanges.push(exchange);
    const passed = testSink(exchange);
    const rawHeaders = Object.entries(headers).flat();
    const request = { method, url: target, rawHeaders, headers } as unknown as AnyRequest;
    const answered = Promise.resolve(
      cache.answer({
        request,
        arrived: 0,
        target,
        whose: undefined,
        scheme: '',
        exchange,
        linesOf({ rawHeaders: raw }) {
          if (raw.includes('X-Refused')) throw new HttpError(502, 'refused');
          return pairs(raw);
        },
        passing: () => passed,
        async forward(sink, change = (lines) => lines) {
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          const lines = change(pairs(rawHeaders));
          const one: Forwarded = { method, target, sink, lines, reject, closed: false, head };
          function head(status: number, given: Record<string, string> = {}) {
            const Date = new globalThis.Date(clock.now()).toUTCString();
            const raw = Object.entries({ Date, ...given }).flat();
            sink.begin({ status, rawHeaders: raw, httpVersion: '1.1' });
            resolve();
          }
          sink.exchange.once('close', () => {
            one.closed = true;
            reject(new Error('left'));
          });
          asked.push(one);
          return promise;
        },
      }),
    );
    answered.catch(() => {});
    /** Reads the whole content. Undefined: the answer was passed on instead of returned. */
    const text = async () => {
      const answer = await answered;
      if (answer?.body === undefined) return answer && '';
      const { body } = answer;
      return typeof body === 'string' ? body : (await wholeOf(body as Buffer)).toString();
    };
    return { exchange, passed, answered, text };
  }

  /** Closes all clients, so that their answers are closed. */
  const leave = () => {
    for (const exchange of exchanges) exchange.close();
  };

  return { asked, ask, leave };
}

export interface Forwarded {
  readonly method: string;
  readonly target: string;
  readonly sink: Sink;
  readonly lines: Lines;
  readonly reject: (error: unknown) => void;
  closed: boolean;
  readonly head: (status: number, headers?: Record<string, string>) => void;
}

const pairs = (raw: readonly string[]): Lines =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));

/** Waits until pending work of the event loop is done. */
export const settled = async () => {
  for (let count = 0; count < 5; count += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
  }
};

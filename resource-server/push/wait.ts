import { Http2ServerResponse } from 'node:http2';
import { HttpError } from '#shared/http/answer.ts';
import { preference } from '#shared/http/prefer.ts';
import { exchangeOf } from '../answers/side.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { arrivals } from './arrivals.ts';
import { eventStream, type ServerEvent, takesEvents } from './event-stream.ts';
import type { PushParts, PushRequest } from './parts.ts';
import { ping, type Promised, push, pushable } from './server-push.ts';

/** Waiters at one subscription or receipt subscription in one process. */
const MOST_WAITERS = 4;
/** Heartbeats in the time after which a quiet connection ends. */
const HEARTBEATS = 4;

/** A resource at which clients wait. */
export interface Source<Row extends { readonly place: number }> {
  readonly id: string;
  read(after: number): Promise<readonly Row[]>;
  /** Resolves to whether it is still there. `doubted`: what made it may have ended. */
  isThere(doubted: boolean): Promise<boolean>;
  event(row: Row): ServerEvent;
  promise(row: Row): Promised;
  /** Called once the client has the row. */
  taken?(row: Row): Promise<void>;
  /** Calls `doubt` when what made it has ended, or the store is silent. Returns a function that ends the watch. */
  watch?(doubt: () => void): () => void;
}

/** Lets clients wait (RFC 8030 section 6), some at each resource. */
export function createWait(parts: Pick<PushParts, 'news' | 'ending' | 'idleTimeout'>) {
  const { news, ending, idleTimeout } = parts;
  const waiting = new Map<string, number>();

  function enter(id: string): () => void {
    const others = waiting.get(id) ?? 0;
    if (others >= MOST_WAITERS) {
      throw new HttpError(429, `${MOST_WAITERS} clients wait here already.`, {
        'Retry-After': '60',
      });
    }
    waiting.set(id, others + 1);
    return () => {
      const left = (waiting.get(id) ?? 1) - 1;
      if (left > 0) waiting.set(id, left);
      else waiting.delete(id);
    };
  }

  return async function wait<Row extends { readonly place: number }>(
    { request, response }: PushRequest,
    source: Source<Row>,
  ): Promise<ResourceAnswer> {
    const raw = request.rawHeaders;
    const once = preference(raw, 'wait') === '0';
    const stream = takesEvents(raw) ? undefined : pushable(response);
    const [over, doubted] = [new AbortController(), new AbortController()];
    const end = () => over.abort();
    using opened = new DisposableStack();
    opened.defer(enter(source.id));
    const side = exchangeOf(response).once('close', end);
    opened.defer(() => void side.off('close', end));
    if (side.destroyed) end();
    if (!(response instanceof Http2ServerResponse)) {
      // A client that has ended its half of the connection still gets answers, but waits for nothing.
      const { socket } = request;
      socket.once('end', end);
      opened.defer(() => void socket.off('end', end));
      if (socket.readableEnded) end();
    }
    if (source.watch) opened.defer(source.watch(() => doubted.abort()));
    const rows = arrivals(news, {
      id: source.id,
      read: source.read,
      isThere: source.isThere,
      once,
      heartbeat: idleTimeout / HEARTBEATS,
      signal: AbortSignal.any([over.signal, ending]),
      doubted: doubted.signal,
    });
    if (stream === undefined) {
      const held = opened.move();
      return eventStream(told(rows, source), () => held.dispose());
    }

    let pushed = 0;
    for await (const row of rows) {
      if (row === undefined) ping(stream);
      else if (await push(stream, source.promise(row))) {
        pushed += 1;
        await source.taken?.(row);
      }
    }
    return { status: pushed === 0 ? 204 : 200, fields: {} };
  };
}

/** The consumer asks for the next event once the one before is written. Ends when the resource has: 200 was sent. */
async function* told<Row extends { readonly place: number }>(
  rows: AsyncIterable<Row | undefined>,
  source: Source<Row>,
): AsyncGenerator<ServerEvent | undefined> {
  try {
    for await (const row of rows) {
      yield row && source.event(row);
      if (row) await source.taken?.(row);
    }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
  }
}

import { Http2ServerResponse } from 'node:http2';
import { HttpError } from '#shared/http/answer.ts';
import { preference } from '#shared/http/prefer.ts';
import { exchangeOf } from '../answers/side.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { arrivals } from './arrivals.ts';
import { eventStream, type ServerEvent, takesEvents } from './event-stream.ts';
import type { PushParts, PushRequest } from './parts.ts';
import { ping, type Promised, push, pushable } from './server-push.ts';

/** The most waiting clients at one subscription or receipt subscription in one process. */
const MOST_WAITERS = 4;
/** The number of heartbeats in the time after which a quiet connection is closed. */
const HEARTBEATS = 4;

/** A resource at which clients wait. */
export interface Source<Row extends { readonly place: number }> {
  readonly id: string;
  read(after: number): Promise<readonly Row[]>;
  /** Resolves to whether the resource still exists. `doubted`: the grant behind it may have ended. */
  isThere(doubted: boolean): Promise<boolean>;
  event(row: Row): ServerEvent;
  promise(row: Row): Promised;
  /** Called once the client has received the row. */
  taken?(row: Row): Promise<void>;
  /**
   * Calls `doubt` when the grant behind the resource has ended, or the store does not answer. Returns a function that
   * ends the watch.
   */
  watch?(doubt: () => void): () => void;
}

/** Makes clients wait (RFC 8030 section 6), a limited number at each resource. */
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
      // A client that half-closed its connection still gets answers, but cannot wait.
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

/**
 * The consumer asks for the next event once the previous one is written. Ends when the resource has ended, since a 200
 * was already sent.
 */
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

import { notFound } from '#shared/http/answer.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { News } from './news.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

interface Placed {
  readonly place: number;
}

export interface Waiter<Row extends Placed> {
  /** The subscription or receipt subscription at which the client waits. */
  readonly id: string;
  /** Returns the rows after a place, in order. */
  read(after: number): Promise<readonly Row[]>;
  /** Resolves to whether that resource still exists. `doubted`: the grant behind it may have ended. */
  isThere(doubted: boolean): Promise<boolean>;
  /** Whether to end after the present rows, without waiting. */
  readonly once: boolean;
  /** Milliseconds of silence after which a heartbeat is sent. */
  readonly heartbeat: number;
  /** Aborted when the client has left, or when the server ends. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the grant behind the resource has ended, or when the store does not answer, so that this is unknown.
   */
  readonly doubted: AbortSignal;
}

/**
 * Milliseconds after which rows are read again, since a row may have been deleted while the client received another.
 */
const FRESH = 50;

/**
 * Yields each row once, as it arrives in any process, and undefined as a heartbeat. Ends with its signal, and during an
 * outage of the store, after which the client returns. Throws HttpError 404 when the resource no longer exists (RFC
 * 8030 section 7.3).
 */
export async function* arrivals<Row extends Placed>(
  news: Pick<News, 'listen'>,
  { id, read, isThere, once, heartbeat, signal, doubted }: Waiter<Row>,
): AsyncGenerator<Row | undefined, void, void> {
  const bell = { rung: true, wake: () => {} };
  const ring = () => {
    bell.rung = true;
    bell.wake();
  };
  const stop = news.listen(id, ring);
  for (const one of [signal, doubted]) one.addEventListener('abort', ring, { once: true });
  try {
    for (let after = 0; !signal.aborted;) {
      bell.rung = false;
      const rows = await read(after);
      const readAt = performance.now();
      for (const row of rows) {
        if (signal.aborted) return;
        if (doubted.aborted) break;
        if (performance.now() > readAt + FRESH) break;
        yield row;
        after = row.place;
      }
      if (rows.length > 0 && !doubted.aborted) continue;
      if (!(await isThere(doubted.aborted))) throw notFound();
      if (once || doubted.aborted) return;
      if (bell.rung) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      bell.wake = resolve;
      const timer = setTimeout(resolve, heartbeat);
      await promise;
      clearTimeout(timer);
      if (!bell.rung) yield undefined;
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  } finally {
    stop();
    for (const one of [signal, doubted]) one.removeEventListener('abort', ring);
  }
}

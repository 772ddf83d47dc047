import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { News } from './news.ts';

interface Placed {
  readonly place: number;
}

export interface Waiter<Row extends Placed> {
  /** The subscription or receipt subscription that it waits at. */
  readonly id: string;
  /** Returns the rows behind a place, in their order. */
  read(after: number): Promise<readonly Row[]>;
  /** Does not wait: ends after the rows that are there. */
  readonly once: boolean;
  /** Milliseconds of quiet after which it gives a sign of life. */
  readonly heartbeat: number;
  /** Aborted when the client has left, when the server ends, or when the subscription has. */
  readonly signal: AbortSignal;
}

/** Milliseconds after which rows are read again: one of them may have been deleted while the client took another. */
const FRESH = 50;

/**
 * Yields each row once, as it arrives in whichever process, and undefined as a sign of life. Ends with its signal, and if
 * the store does not answer: the client comes back.
 */
export async function* arrivals<Row extends Placed>(
  news: Pick<News, 'listen'>,
  { id, read, once, heartbeat, signal }: Waiter<Row>,
): AsyncGenerator<Row | undefined, void, void> {
  const bell = { rung: true, wake: () => {} };
  const ring = () => {
    bell.rung = true;
    bell.wake();
  };
  const stop = news.listen(id, ring);
  signal.addEventListener('abort', ring, { once: true });
  try {
    for (let after = 0; !signal.aborted;) {
      bell.rung = false;
      const rows = await read(after);
      const readAt = performance.now();
      for (const row of rows) {
        if (signal.aborted) return;
        if (performance.now() > readAt + FRESH) break;
        yield row;
        after = row.place;
      }
      if (rows.length > 0) continue;
      if (once) return;
      while (!bell.rung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        bell.wake = resolve;
        const timer = setTimeout(resolve, heartbeat);
        await promise;
        clearTimeout(timer);
        if (!bell.rung) yield undefined;
      }
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  } finally {
    stop();
    signal.removeEventListener('abort', ring);
  }
}

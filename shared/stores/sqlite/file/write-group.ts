import type { Clock } from '#shared/base/clock.ts';
import type { Connection } from './connection.ts';
import { isDiskError } from './write-fault.ts';

/** Milliseconds after which a transaction takes no other write in: other processes wait for their turn. */
const LONGEST = 5;

/** A write, and how to tell who waits for it. */
export interface Write {
  /** Returns what tells the result, once that is committed. */
  carryOut(connection: Connection): () => void;
  /** Nothing was done, or nobody knows. */
  fail(cause: unknown): void;
  /** May use the last room on the disk. */
  readonly makesRoom: boolean;
}

/**
 * Carries out the first of `writes` in one transaction, in their order, and tells each what came of it when
 * that is committed. One that throws leaves nothing behind and fails alone. Returns how many it were; the
 * others were not begun: none is, where another process is still writing after `patience` milliseconds. Throws
 * when there was no commit: nobody was told anything.
 */
export function commitGroup(
  connection: Connection,
  writes: readonly Write[],
  clock: Clock,
  patience: number,
): number {
  const tell: (() => void)[] = [];
  connection.write(() => {
    const end = clock.monotonic() + LONGEST;
    for (const write of writes) {
      tell.push(writes.length === 1 ? write.carryOut(connection) : apart(connection, write));
      if (clock.monotonic() >= end) break;
    }
  }, patience);
  for (const result of tell) result();
  return tell.length;
}

function apart(connection: Connection, write: Write): () => void {
  try {
    return connection.attempt(() => write.carryOut(connection));
  } catch (cause) {
    // An error of the disk, or whatever else SQLite gave the transaction up for, is not a matter of this one alone.
    if (isDiskError(cause) || !connection.inTransaction) throw cause;
    return () => write.fail(cause);
  }
}

import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Connection } from './connection.ts';
import type { Held } from './held.ts';
import { isDiskError } from './write-fault.ts';

/** Milliseconds after which a transaction takes no other write in: other processes wait for their turn. */
const LONGEST = 5;

/** Tells what came of a write, once that is certain. */
export type Outcome = () => void;

/** A write, and how to tell who waits for it. */
export interface Write {
  carryOut(sql: Held): Awaitable<unknown>;
  /** `result`: of `carryOut`, which is committed. */
  succeed(result: unknown): void;
  /** Nothing was done, or nobody knows. */
  fail(cause: unknown): void;
  /** May use the last room on the disk. */
  readonly makesRoom: boolean;
}

/**
 * Carries out the first of `writes` in one transaction, in their order, and resolves to the outcome of each when that is
 * committed. One that throws leaves nothing behind and fails alone. The others were not begun: none is, where another
 * process is still writing after `patience` milliseconds. Rejects when there was no commit.
 */
export async function commitGroup(
  connection: Connection,
  writes: readonly Write[],
  clock: Clock,
  patience: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const isAlone = writes.length === 1;
  await connection.write(async (held) => {
    const end = clock.monotonic() + LONGEST;
    for (const write of writes) {
      if (!isAlone) connection.beginPart();
      try {
        const result = await write.carryOut(held);
        if (!isAlone) connection.endPart();
        outcomes.push(() => write.succeed(result));
      } catch (cause) {
        // An error of the disk, or whatever else SQLite gave the transaction up for, is not a matter of this one alone.
        if (isAlone || !connection.undoPart() || isDiskError(cause)) throw cause;
        outcomes.push(() => write.fail(cause));
      }
      if (clock.monotonic() >= end) break;
    }
  }, patience);
  return outcomes;
}

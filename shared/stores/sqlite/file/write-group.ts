import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Connection } from './connection.ts';
import type { Held } from './held.ts';
import { isDiskError } from './write-fault.ts';

/** Milliseconds after which a transaction takes no further write, since other processes wait. */
const LONGEST = 5;

/** Reports the result of a write, once it is certain. */
export type Outcome = () => void;

/** A write, and how to report its result. */
export interface Write {
  carryOut(sql: Held): Awaitable<unknown>;
  /** `result`: of `carryOut`. It is committed. */
  succeed(result: unknown): void;
  /** The write had no effect, or its effect is unknown. */
  fail(cause: unknown): void;
  /** True if the write may use the last room on the disk. */
  readonly makesRoom: boolean;
}

/**
 * Carries out the first of `writes` in order in one transaction. Resolves to their outcomes after the commit. A write
 * that throws is undone alone. The remaining writes were not begun; none was, if another process was writing for
 * `patience` milliseconds. Rejects if nothing was committed.
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
        // After an error of the disk, or one that ended the transaction, all its writes have failed.
        if (isAlone || !connection.undoPart() || isDiskError(cause)) throw cause;
        outcomes.push(() => write.fail(cause));
      }
      if (clock.monotonic() >= end) break;
    }
  }, patience);
  return outcomes;
}

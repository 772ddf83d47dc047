import type { Writable } from 'node:stream';
import type { WriteLine } from './log.ts';

/** Milliseconds that a line waits for others: what the log loses when the process is killed. */
const WAIT = 20;
/** Characters that are written at once, also when less time has passed. */
const ENOUGH = 32 * 1024;
/** Characters that wait in memory for whoever does not read: Node writes to a pipe that is full later. */
const MOST = 16 * 1024 * 1024;

export interface GatheredLines {
  readonly write: WriteLine;
  /** Writes what waits: before the process ends. */
  flush(): void;
}

/**
 * Lines in order, several with one call of `write`, which costs a server under load more than making them. An
 * urgent line is written at once, and what waits before it. No more than `ENOUGH` and a line wait here. While `to`
 * holds more than `MOST` lines are dropped; `lost` is called with their number once it takes lines again.
 */
export function gatherLines(
  to: Pick<Writable, 'write' | 'writableLength'>,
  lost: (lines: number) => void,
): GatheredLines {
  let waiting = '';
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    waiting = '';
    if (to.writableLength > MOST) {
      dropped += lines.split('\n').length - 1;
      return;
    }
    const before = dropped;
    dropped = 0;
    if (before > 0) lost(before);
    if (lines !== '') to.write(lines);
  }

  return {
    write(line, urgent) {
      waiting += line;
      if (urgent || waiting.length >= ENOUGH) flush();
      else timer ??= setTimeout(flush, WAIT).unref();
    },
    flush,
  };
}

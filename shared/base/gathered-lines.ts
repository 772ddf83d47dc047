import type { WriteLine } from './log.ts';

/** Milliseconds that a line waits for others: what the log loses when the process is killed. */
const WAIT = 20;
/** Characters that are written at once, also when less time has passed. */
const ENOUGH = 32 * 1024;

export interface GatheredLines {
  readonly write: WriteLine;
  /** Writes what waits: before the process ends. */
  flush(): void;
}

/**
 * Lines in order, several with one call of `write`, which costs a server under load more than making them. An
 * urgent line is written at once, and what waits before it. No more than `ENOUGH` and a line wait: who does not
 * read holds up `write`, as without this.
 */
export function gatherLines(write: (lines: string) => void): GatheredLines {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    waiting = '';
    if (lines !== '') write(lines);
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

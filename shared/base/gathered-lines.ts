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

interface Lines extends Pick<Writable, 'writableLength'> {
  write(lines: string, done: (error?: Error | null) => void): unknown;
}

/**
 * Lines in order, several with one call of `write`, which costs a server under load more than making them. An
 * urgent line is written at once, and what waits before it. No more than `ENOUGH` and a line wait here. While `to`
 * holds more than `MOST` lines are dropped, and those that it fails to write are lost: `lost`, which writes a line,
 * is called with their number before the next ones. The errors that `to` emits are not listened to.
 */
export function gatherLines(to: Lines, lost: (lines: number) => void): GatheredLines {
  let waiting = '';
  let dropped = 0;
  /** For how many the line stands that `lost` writes. */
  let told = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const [lines, before, standsFor] = [waiting, dropped, told];
    waiting = '';
    const lose = () => void (dropped += standsFor || lines.split('\n').length - 1);
    if (to.writableLength > MOST) return lose();
    if (before > 0) {
      [dropped, told] = [0, before];
      lost(before);
      told = 0;
    }
    if (lines !== '') to.write(lines, (error) => void (error && lose()));
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

import type { Writable } from 'node:stream';
import type { WriteLine } from './log.ts';
import { setTimeout } from './safe-timers.ts';

/** Milliseconds that a line waits for further lines; a killed process loses the lines of this time. */
const WAIT = 20;
/** Characters that are written at once, even before `WAIT` is over. */
const ENOUGH = 32 * 1024;
/** Most characters in memory while the reader does not read: Node writes to a full pipe later. */
const MOST = 16 * 1024 * 1024;

export interface GatheredLines {
  readonly write: WriteLine;
  /** Writes the waiting lines, before the process ends. */
  flush(): void;
}

interface Lines extends Pick<Writable, 'writableLength'> {
  write(lines: string, done: (error?: Error | null) => void): unknown;
}

/**
 * Writes lines in order, several with one call of `write`, whose calls would otherwise cost a busy server more than
 * making the lines. It writes an urgent line at once, after the waiting lines. At most `ENOUGH` characters and a line
 * wait here. While `to` holds more than `MOST` characters, lines are dropped, and lines that `to` fails to write are
 * lost. `lost`, which writes a line, is called with their number before the next lines. The caller must handle errors
 * that `to` emits.
 */
export function gatherLines(to: Lines, lost: (lines: number) => void): GatheredLines {
  let waiting = '';
  let dropped = 0;
  /** The number of lost lines that the line of `lost` reports. */
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

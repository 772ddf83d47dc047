import { readFile, rm } from 'node:fs/promises';
import * as z from 'zod';
import { until } from '../parts/process.ts';
import type { Server } from './cpu.ts';

const milliseconds = z.number();
const loopDelay = z.object({
  p50: milliseconds,
  p99: milliseconds,
  max: milliseconds,
  cpu: milliseconds,
});

/**
 * Milliseconds from one turn of an event loop to the next; looked at each millisecond, which is the least. `cpu`: what
 * its thread worked in the longest, without what other processes took from it meanwhile.
 */
export type LoopDelay = z.infer<typeof loopDelay>;

/** Watches the event loop of a server from within, without a word of the server's own. */
export interface LoopMonitor {
  /** Node's, with which the server has to be started. */
  readonly flags: readonly string[];
  /** Measures the delay of its event loop during the work. */
  during<T>(
    server: Pick<Server, 'pids'>,
    work: () => Promise<T>,
  ): Promise<{ readonly done: T; readonly delay: LoopDelay }>;
}

/** For one server; `file` is for the two to meet at. */
export function loopMonitor(file: string): LoopMonitor {
  const module = new URL('targets/loop-monitor.ts', import.meta.url);
  module.searchParams.set('file', file);
  return {
    flags: ['--import', module.href],
    async during({ pids }, work) {
      const signal = (name: 'SIGURG' | 'SIGWINCH') =>
        pids.forEach((pid) => process.kill(pid, name));
      await rm(file, { force: true });
      signal('SIGURG');
      const done = await work();
      signal('SIGWINCH');
      // The file may be there before its content.
      await until(async () => (await readFile(file, 'utf8')).endsWith('}'));
      return { done, delay: loopDelay.parse(JSON.parse(await readFile(file, 'utf8'))) };
    },
  };
}

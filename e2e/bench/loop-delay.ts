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
 * Milliseconds between two turns of an event loop, sampled each millisecond. `cpu`: the thread's CPU time
 * in the longest turn, without time that other processes took.
 */
export type LoopDelay = z.infer<typeof loopDelay>;

/** Watches a server's event loop from within, without changes to the server. */
export interface LoopMonitor {
  /** Flags of Node with which the server must start. */
  readonly flags: readonly string[];
  /** Measures the delay of the server's event loop during the work. */
  during<T>(
    server: Pick<Server, 'pids'>,
    work: () => Promise<T>,
  ): Promise<{ readonly done: T; readonly delay: LoopDelay }>;
}

/** A monitor for one server; both sides use `file`. */
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
      // The file may exist before its content.
      await until(async () => (await readFile(file, 'utf8')).endsWith('}'));
      return { done, delay: loopDelay.parse(JSON.parse(await readFile(file, 'utf8'))) };
    },
  };
}

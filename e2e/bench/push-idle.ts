import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { liveHeap } from '../attacks/live-heap.ts';
import type { ServerProcess } from '../pair/pair.ts';
import { cpuTime, type Server } from './cpu.ts';
import { family } from './processes.ts';
import type { ServedStore } from './targets/stores.ts';

/** Seconds until the work before has no effect, and seconds of the measurement. */
const REST = 3;
const LOOKED_AT = 10;

/** The cost of a server and its store per second. */
export interface Idle {
  /** Milliseconds of CPU time. */
  readonly cpu: number;
  /** Milliseconds of CPU time of the store's servers. */
  readonly store?: number;
}

/** Measures an idle server. */
export async function idleCost({ pids }: Server, store?: ServedStore): Promise<Idle> {
  const look = () => ({
    cpu: cpuTime(...pids),
    store: store && cpuTime(...store.pids),
  });
  await delay(REST * 1000);
  const before = look();
  await delay(LOOKED_AT * 1000);
  const after = look();
  const milliseconds = (from: number, to: number) => (to - from) / 1000 / LOOKED_AT;
  return {
    cpu: milliseconds(before.cpu, after.cpu),
    ...(before.store !== undefined &&
      after.store !== undefined && { store: milliseconds(before.store, after.store) }),
  };
}

/** Memory in bytes. */
export interface Held {
  /** JavaScript objects that survive a garbage collection. */
  readonly heap: number;
  /** All memory of the process, including unused memory. */
  readonly rss: number;
}

/** Only signals are sent to the server. */
const heapOf = liveHeap as (server: Pick<ServerProcess, 'signal'>) => Promise<number>;

export async function held({ pids: [pid = 0] }: Server): Promise<Held> {
  const heap = await heapOf({ signal: (signal) => void process.kill(pid, signal) });
  const rss = family(pid).reduce((sum, one) => sum + residentOf(one), 0);
  return { heap, rss };
}

/** VmRSS of proc_pid_status(5), in bytes. */
function residentOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

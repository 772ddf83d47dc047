import { readFileSync } from 'node:fs';
import { cpuTime, TICKS_PER_SECOND } from './cpu.ts';

/** On a quiet machine other processes use at most this part of a core, on average. */
const QUIET = 0.1;

/** Seconds of CPU time: of all processes, and of this process with its children. */
interface Used {
  readonly at: number;
  readonly all: number;
  readonly own: number;
}

/** Returns a function for the part of a core that other processes have used from now on, on average. */
export function watchOthers(read: () => Used = used): () => number {
  const before = read();
  return () => {
    const { at, all, own } = read();
    const others = all - before.all - (own - before.own);
    return Math.max(0, others / (at - before.at));
  };
}

function used(): Used {
  return {
    at: performance.now() / 1000,
    all: usedTicks(readFileSync('/proc/stat', 'utf8')) / TICKS_PER_SECOND,
    own: cpuTime(process.pid) / 1_000_000,
  };
}

/**
 * The sum of user, nice, system and steal of all CPUs (proc_stat(5)), which includes other guests of the
 * machine. Interrupts are excluded, because most belong to the measured connections.
 */
export function usedTicks(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] =
    /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  return user + nice + system + steal;
}

/** The last line of a report; absent if the machine was quiet. */
export function unquiet(others: number): string | undefined {
  if (others <= QUIET) return undefined;
  return `The machine was not quiet: other processes used ${others.toFixed(1)} of a core; read the ratios with care.`;
}

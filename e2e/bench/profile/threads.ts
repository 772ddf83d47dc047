import { readdirSync, readFileSync } from 'node:fs';
import { ticks, TICKS_PER_SECOND } from '../cpu.ts';

/** The CPU ticks of a process's threads by name (proc_pid_task(5)). Threads of one name are added. */
export function threadTicks(pid: number): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    const name = readFileSync(`${folder}/comm`, 'utf8').trim();
    all.set(name, (all.get(name) ?? 0) + ticks(readFileSync(`${folder}/stat`, 'utf8')));
  }
  return all;
}

/**
 * Describes each kind of thread's share of the CPU time between two measurements, in descending order. A
 * flame graph shows the main thread only; Node hashes passwords, compresses and reads files in threads
 * named libuv-worker.
 */
export function threadShares(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): string {
  const used = [...after].map(([name, now]) => [name, now - (before.get(name) ?? 0)] as const);
  const sum = used.reduce((all, [, some]) => all + some, 0);
  return used
    .filter(([, some]) => some > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, some]) => {
      const seconds = (some / TICKS_PER_SECOND).toFixed(2);
      return `${name} ${((100 * some) / sum).toFixed(1)} % (${seconds} s)`;
    })
    .join(', ');
}

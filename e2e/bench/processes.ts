import { readFileSync, writeFileSync } from 'node:fs';

/** A process and its running descendants (proc_pid_task(5)). */
export function family(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const others = children === '' ? [] : children.split(' ');
  return [pid, ...others.flatMap((child) => family(Number(child)))];
}

/** Resets the peaks that `peakMemory` reads (proc_pid_clear_refs(5)). */
export function forgetPeaks(pids: readonly number[]): void {
  for (const pid of pids.flatMap(family)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The sum of the peak memory (VmHWM) of the processes and their children, in bytes. */
export function peakMemory(pids: readonly number[]): number {
  return pids.flatMap(family).reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return sum + kilobytes(status) * 1024;
  }, 0);
}

/** VmHWM of proc_pid_status(5); 0 for an ended process. */
export function kilobytes(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { family, forgetPeaks, kilobytes, peakMemory } from './processes.ts';

test('proc_pid_status(5): the peak is VmHWM, not the current memory', () => {
  expect(kilobytes('Name:\tVmHWM\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1024 kB\n')).toBe(
    2048,
  );
  expect(kilobytes('Name:\tnode\nState:\tZ (zombie)\n')).toBe(0);
});

test("a child process belongs to its parent's family, with its memory", async () => {
  await using stack = new AsyncDisposableStack();
  const before = family(process.pid);
  const child = spawn('sh', ['-c', 'echo; read line'], { stdio: ['pipe', 'pipe', 'ignore'] });
  stack.defer(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  expect(before).not.toContain(pid);
  expect(family(process.pid)).toContain(pid);
  expect(peakMemory([pid])).toBeGreaterThan(0);
  expect(peakMemory([process.pid])).toBeGreaterThan(peakMemory([pid]));
});

test('after a reset the peak is the current memory', () => {
  const most = 256 * 1024 ** 2;
  let block: ArrayBuffer | undefined = new ArrayBuffer(most);
  new Uint8Array(block).fill(1);
  const peak = peakMemory([process.pid]);
  expect(peak).toBeGreaterThan(most);
  block = block.transfer(0);
  forgetPeaks([process.pid]);
  expect(peakMemory([process.pid])).toBeLessThan(peak - most / 2);
});

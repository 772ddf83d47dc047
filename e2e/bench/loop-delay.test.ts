import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { startProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { loopMonitor } from './loop-delay.ts';

/** A program that blocks its event loop for `milliseconds` at each SIGUSR1. */
const BLOCKING = (milliseconds: number) => `
  setInterval(() => {}, 1000);
  process.on('SIGUSR1', () => {
    const end = performance.now() + ${milliseconds};
    while (performance.now() < end);
    console.log('blocked');
  });
  console.log('ready');`;

test('the monitor finds the longest delay of the loop, and only while it watches', async () => {
  await using folder = await temporaryFolder();
  const monitor = loopMonitor(join(folder.path, 'delay.json'));
  const args = [...monitor.flags, '--eval', BLOCKING(300)];
  await using server = await startProcess(process.execPath, args, {
    ready: (output) => output.includes('ready'),
  });
  const pids = [Number(server.pid)];
  const turnsBlocked = () => server.output.split('blocked').length - 1;
  async function block(): Promise<number> {
    const before = turnsBlocked();
    server.signal('SIGUSR1');
    while (turnsBlocked() === before) await sleep(5);
    return turnsBlocked();
  }
  expect(await block()).toBe(1);
  const idle = await monitor.during({ pids }, () => sleep(100));
  const blocked = await monitor.during({ pids }, async () => {
    await block(); // the monitor starts with the next turn of the loop
    return block();
  });
  expect(blocked.done).toBe(3);
  expect(blocked.delay.max).toBeGreaterThanOrEqual(300);
  expect(blocked.delay.max).toBeGreaterThan(idle.delay.max);
});

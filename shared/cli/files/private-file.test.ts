import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { withFileLock } from './private-file.ts';

const wait = (milliseconds: number) => setTimeout(milliseconds);
const shell = { wait };
const lock = async () => join(await temporaryFolder(), 'lock');

test('ten holders at once get the lock one after another', async () => {
  const path = await lock();
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await wait(1);
    inside -= 1;
    return inside;
  };
  const results = await Promise.all(
    Array.from({ length: 10 }, () => withFileLock(path, shell, work)),
  );
  expect([most, results]).toEqual([1, Array.from({ length: 10 }, () => 0)]);
});

test('a failure within the lock releases it', async () => {
  const path = await lock();
  const fails = async () => {
    throw new Error('no');
  };
  await expect(withFileLock(path, shell, fails)).rejects.toThrow('no');
  expect(await withFileLock(path, shell, async () => 'next')).toBe('next');
});

test('a process with the lock excludes other processes, and leaves no lock behind when it is killed', async () => {
  const path = await lock();
  const source = fileURLToPath(new URL('private-file.ts', import.meta.url));
  const script = `
    const { withFileLock } = await import(${JSON.stringify(source)});
    await withFileLock(${JSON.stringify(path)}, { wait: async () => {} }, async () => {
      process.stdout.write('held');
      await new Promise((resolve) => setTimeout(resolve, 600000));
    });`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');

  const waits: number[] = [];
  const count = async (milliseconds: number) => void waits.push(milliseconds);
  const impatient = withFileLock(path, { wait: count }, async () => 'never');
  await expect(impatient).rejects.toThrow(`another process holds ${path}`);
  expect(waits.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(119_000);

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  expect(await withFileLock(path, shell, async () => 'mine')).toBe('mine');
});

import { expect, test } from '@jest/globals';
import { startProcess, until } from '../../parts/process.ts';
import { fold, octetsTaken, selfTimes } from './fold.ts';
import { outlived, profiled } from './inspector.ts';

const WORKING = `
  function worksHard() {
    const end = performance.now() + 20;
    while (performance.now() < end);
  }
  setInterval(worksHard, 25);
  console.log('ready');`;

test('a process that was started without flags can be profiled', async () => {
  await using server = await startProcess(process.execPath, ['--eval', WORKING], {
    ready: (output) => output.includes('ready'),
  });
  const before = server.output.length;
  const profile = await profiled(Number(server.pid), async () => {
    const end = performance.now() + 500;
    while (performance.now() < end) await new Promise((resolve) => void setTimeout(resolve, 50));
  });
  expect(server.output.length).toBeGreaterThan(before); // Node prints that it listens
  const names = selfTimes(fold(profile)).map(([name]) => name);
  expect(names.some((name) => name.startsWith('worksHard'))).toBe(true);
});

test('two processes that are profiled at once are profiled one after the other', async () => {
  const profileOf = async () => {
    await using server = await startProcess(process.execPath, ['--eval', WORKING], {
      ready: (output) => output.includes('ready'),
    });
    const profile = await profiled(Number(server.pid), async () => {
      const end = performance.now() + 200;
      while (performance.now() < end) await new Promise((resolve) => void setTimeout(resolve, 50));
    });
    return selfTimes(fold(profile)).map(([name]) => name);
  };
  for (const names of await Promise.all([profileOf(), profileOf()])) {
    expect(names.some((name) => name.startsWith('worksHard'))).toBe(true);
  }
});

test('objects that a process keeps are listed by the function that made them', async () => {
  const keeping = `
    const kept = [];
    function keeps() {
      for (let n = 0; n < 5000; n += 1) kept.push({ n, text: String(n) });
      console.log('round');
    }
    setInterval(keeps, 25);
    console.log('ready');`;
  await using server = await startProcess(process.execPath, ['--eval', keeping], {
    ready: (output) => output.includes('ready'),
  });
  const profile = await outlived(Number(server.pid), () => {
    const rounds = () => server.output.split('round').length;
    const before = rounds();
    return until(async () => rounds() > before + 2);
  });
  expect(octetsTaken(profile).some(([name]) => name.startsWith('keeps'))).toBe(true);
});

test('a process that ends meanwhile has no profile', async () => {
  await using server = await startProcess(process.execPath, ['--eval', WORKING], {
    ready: (output) => output.includes('ready'),
  });
  await expect(profiled(Number(server.pid), () => server.kill())).rejects.toThrow('is over');
});

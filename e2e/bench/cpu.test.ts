import { expect, test } from '@jest/globals';
import { cpuTime, ticks } from './cpu.ts';

test('proc(5): fields 14 to 17 are found behind any process name', () => {
  const rest = 'S 1 2 3 0 -1 4194304 100 0 0 0 7 5 2 1 20 0 11 0';
  expect(ticks(`42 (node) ${rest}`)).toBe(15);
  expect(ticks(`42 (a) b (c)) ${rest}`)).toBe(15);
});

test('a busy process uses CPU time', () => {
  const before = cpuTime(process.pid);
  let turns = 0;
  while (cpuTime(process.pid) === before && turns < 1_000_000) turns += 1;
  expect(cpuTime(process.pid)).toBeGreaterThan(before);
});

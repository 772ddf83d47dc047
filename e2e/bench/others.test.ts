import { cpus } from 'node:os';
import { expect, test } from '@jest/globals';
import { unquiet, usedTicks, watchOthers } from './others.ts';

test("proc_stat(5): idle time, I/O wait and interrupts are not counted, and another guest's time is", () => {
  const stat = 'cpu  1000 200 30 99999 7777 555 666 4 11 22\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n';
  expect(usedTicks(stat)).toBe(1234);
  expect(usedTicks('intr 5\n')).toBe(0);
});

test('the other processes used the total without this process and its children', () => {
  const read = [
    { at: 100, all: 1000, own: 50 },
    { at: 110, all: 1018, own: 60 },
    { at: 120, all: 1019, own: 75 }, // clock ticks are coarse
  ];
  const others = watchOthers(() => read.shift() ?? { at: 0, all: 0, own: 0 });
  expect(others()).toBeCloseTo(0.8);
  expect(others()).toBe(0);
});

test("this process's CPU time is not counted for other processes", () => {
  const end = performance.now() + 300;
  const others = watchOthers();
  while (performance.now() < end);
  const { length: cores } = cpus();
  expect(others()).toBeLessThan(cores - 0.5);
});

test('a report ends with a line if other processes used more than a tenth of a core', () => {
  expect(unquiet(0.1)).toBeUndefined();
  expect(unquiet(0.84)).toMatch(
    /^The machine was not quiet: other processes used 0\.8 of a core; read the ratios with care\.$/,
  );
});

import { expect, test } from '@jest/globals';
import { collectWhenIdle, sinceLast } from './idle-memory.ts';

test('garbage is collected twice after the start and after a busy time, and never during it', async () => {
  const loads = [0.5, 0.01, 0, 0, 0, 0.03, 0.9, 0.02, 0.03, 0, 0, 0];
  const asked: unknown[] = [];
  let at = -1;
  const collect = async (options?: unknown) => void asked.push([at, options]);
  const chore = collectWhenIdle(() => loads[at] ?? 0, collect);
  for (at of loads.keys()) await chore.run();
  const how = { type: 'major', execution: 'async' };
  expect(asked).toEqual([1, 2, 7, 9, 10].map((when) => [when, how]));
});

test('garbage is not collected while the process is always busy', () => {
  const utilization = sinceLast();
  const until = performance.now() + 20;
  while (performance.now() < until);
  const part = utilization();
  expect(part).toBeGreaterThan(0);
  expect(part).toBeLessThanOrEqual(1);
});

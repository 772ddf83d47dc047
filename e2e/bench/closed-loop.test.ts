import { expect, test } from '@jest/globals';
import { closedLoop } from './closed-loop.ts';

test('what rejects is an error and is not counted; no more are under way than asked for', async () => {
  let visits = 0;
  let underWay = 0;
  let most = 0;
  const visit = async () => {
    visits += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    const fails = visits % 3 === 0;
    await new Promise((resolve) => void setImmediate(resolve));
    underWay -= 1;
    if (fails) throw new Error('refused');
  };
  const { count, errors, latency, seconds } = await closedLoop(visit, 4, 0.05);
  expect(most).toBe(4);
  expect(errors).toBe(Math.floor(visits / 3));
  expect(count + errors).toBe(visits);
  expect(seconds).toBeGreaterThanOrEqual(0.05);
  expect(latency?.p99).toBeGreaterThanOrEqual(latency?.p50 ?? Infinity);
});

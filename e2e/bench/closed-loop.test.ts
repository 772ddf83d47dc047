import { expect, test } from '@jest/globals';
import { closedLoop } from './closed-loop.ts';

test('a rejection is an error and is not counted, and the number of parallel requests is limited', async () => {
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

test('the loop ends when there is nothing to visit, after the requests in progress', async () => {
  let left = 5;
  const visit = () => {
    left -= 1;
    return left < 0 ? undefined : new Promise<void>((resolve) => void setImmediate(resolve));
  };
  const { count, errors } = await closedLoop(visit, 4, 3600);
  expect([count, errors]).toEqual([5, 0]);
});

import { afterEach, expect, test } from '@jest/globals';
import { nextTick, reportThrown, setImmediate, setInterval, setTimeout } from './safe-timers.ts';

afterEach(() =>
  reportThrown((error) => {
    throw error;
  }),
);

test('an error of a callback is reported, and the process goes on', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reported: string[] = [];
  reportThrown((error) => {
    reported.push(String(error));
    if (reported.length === 4) resolve();
  });
  const fail = (what: string) => {
    throw new Error(what);
  };
  nextTick(() => fail('tick'));
  setImmediate(() => fail('immediate'));
  setTimeout(fail, 1, 'timeout');
  const timer = setInterval(() => {
    clearInterval(timer);
    fail('interval');
  }, 1);
  await promise;
  expect(reported.toSorted()).toEqual(
    ['immediate', 'interval', 'tick', 'timeout'].map((what) => `Error: ${what}`),
  );
});

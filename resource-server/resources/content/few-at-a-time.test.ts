import { expect, test } from '@jest/globals';
import { fewAtATime } from './disk.ts';

test.each([0, 1, 16, 17, 1000])(
  '%d pieces of work are all done, in order and a few at a time',
  async (count) => {
    let [running, most] = [0, 0];
    const done: number[] = [];
    const all = Array.from({ length: count }, (_, n) => n);
    await fewAtATime(all, async (n) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      done.push(n);
      running -= 1;
    });
    expect(done).toEqual(all);
    expect(most).toBe(Math.min(count, 16));
  },
);

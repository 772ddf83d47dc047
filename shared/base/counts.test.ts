import { expect, test } from '@jest/globals';
import { Counts, fairShare } from './counts.js';

const share = (of: string, amount: number, most: number) => ({ of, amount, most });

test('take reserves all shares or none', () => {
  const counts = new Counts();
  expect(counts.take(1, [share('alice', 3, 4), share('all', 3, 5)])).toBe(true);
  expect(counts.take(2, [share('bob', 3, 4), share('all', 3, 5)])).toBe(false);
  expect(counts.take(2, [share('bob', 4, 4), share('all', 2, 5)])).toBe(true);
});

test('an ended holder holds nothing, and other holders keep their amounts', () => {
  const counts = new Counts();
  for (const holder of [1, 2]) counts.take(holder, [share('alice', 2, 4)]);
  counts.give(1, [share('alice', 1, 4)]);
  counts.forget(1);
  counts.forget(1);
  expect(counts.take(3, [share('alice', 3, 4)])).toBe(false);
  expect(counts.take(3, [share('alice', 2, 4)])).toBe(true);
});

test('each holder may have the same part of the free amount', () => {
  const counts = new Counts();
  const of = (name: string) => [
    { of: name, amount: 1, most: 25, within: { of: 'all', most: 100 } },
    share('all', 1, 100),
  ];
  const takeAll = (name: string) => {
    let taken = 0;
    while (counts.take(1, of(name))) taken += 1;
    return taken;
  };
  expect(['a', 'b', 'c', 'a'].map(takeAll)).toEqual([25, 19, 14, 0]);
  for (let times = 0; times < 25; times += 1) counts.give(1, of('a'));
  expect(['b', 'c', 'a'].map(takeAll)).toEqual([3, 6, 15]);
});

test.each([
  [1 / 4, [75, 56, 42, 4]],
  [1 / 3, [66, 44, 29, 1]],
  [1 / 10, [90, 81, 72, 32]],
])('one, two, three and ten that take %d of 100 leave %j', (part, left) => {
  const leave = (greedy: number) => {
    let free = 100;
    for (let one = 0; one < greedy; one += 1) {
      let held = 0;
      while (held < fairShare(part * 100, 100, 100 - free - held))
        [held, free] = [held + 1, free - 1];
    }
    return free;
  };
  expect([1, 2, 3, 10].map(leave)).toEqual(left);
});

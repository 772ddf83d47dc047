import { pbkdf2Sync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { threadShares, threadTicks } from './threads.ts';

test('the shares of working threads are listed in descending order', () => {
  const before = new Map([
    ['main', 10],
    ['idle', 5],
  ]);
  const after = new Map([
    ['main', 11],
    ['idle', 5],
    ['libuv-worker', 7],
  ]);
  expect(threadShares(before, after)).toBe('libuv-worker 87.5 % (0.07 s), main 12.5 % (0.01 s)');
});

test('a working thread has more ticks afterwards', () => {
  const before = threadTicks(process.pid);
  let shares = '';
  for (let turn = 0; turn < 1000 && shares === ''; turn += 1) {
    pbkdf2Sync('a password', 'salt', 10_000, 32, 'sha256');
    shares = threadShares(before, threadTicks(process.pid));
  }
  expect(shares).toMatch(/^\S+ \d+\.\d % \(\d+\.\d\d s\)/);
});

import { beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { FollowedProcess } from '#shared/stores/revocation/followers.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { FollowerRow } from './follower-row.ts';
import { Register } from './register.ts';

const LEASE = 2_000;

let clock: ManualClock;
let register: Register;
let written: FollowedProcess[];
let put: () => Promise<boolean>;
let row: FollowerRow;
beforeEach(() => {
  clock = new ManualClock();
  register = new Register();
  written = [];
  put = async () => true;
  row = new FollowerRow({
    followers: {
      look: async () => ({ epoch: 'an epoch', last: 7, processes: [], settled: true }),
      put(process) {
        written.push(process);
        return put();
      },
      remove: async () => {},
      settle: async () => {},
      page: () => Promise.reject(new Error('nobody asks for it')),
    },
    register,
    clock,
    random: systemRandom,
    lease: LEASE,
  });
});

test('the row is written before any answer, and again an eighth of a lease later', async () => {
  await row.ensure();
  await row.ensure();
  expect(written).toHaveLength(1);
  clock.advance(LEASE / 8 / 1000);
  await row.ensure();
  expect(written).toHaveLength(1);
  clock.advance(0.001);
  await row.ensure();
  expect(written.map(({ beat }) => beat)).toEqual([1, 2]);
});

test('the row is rewritten after the machine slept or the clock was set back', async () => {
  await row.ensure();
  clock.set(60);
  await row.ensure();
  clock.set(-60);
  await row.ensure();
  expect(written).toHaveLength(3);
});

test('a write whose result is unknown has another number than the next write', async () => {
  put = () => Promise.reject(new StoreUnavailable('no answer'));
  await expect(row.ensure()).rejects.toThrow(StoreUnavailable);
  put = async () => true;
  await row.ensure();
  expect(written.map(({ beat }) => beat)).toEqual([1, 2]);
});

test('the age of the row counts from the start of the write', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  put = () => promise;
  const ensured = row.ensure();
  await new Promise(setImmediate);
  clock.advance(1);
  resolve(true);
  await ensured;
  await row.ensure();
  expect(written).toHaveLength(2);
});

test('after the store lost its memory there is another row, and all followers begin again', async () => {
  register.position = 7;
  const follower = register.follower('app', 'x');
  await row.ensure();
  expect(row.confirmed).toBe(7);
  put = async () => false;
  await expect(row.write()).rejects.toThrow(StoreUnavailable);
  expect(follower && register.knows(follower)).toBe(false);
  expect(row.confirmed).toBe(0);
  put = async () => true;
  await row.ensure();
  expect(new Set(written.map(({ id }) => id)).size).toBe(2);
});

test('a write that finishes after the row was given up does not count', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  put = () => promise;
  const ensured = row.ensure();
  await new Promise(setImmediate);
  row.forget();
  resolve(true);
  await expect(ensured).rejects.toThrow(StoreUnavailable);
  put = async () => true;
  await row.ensure();
  expect(written).toHaveLength(2);
});

test('the row is rewritten after it was removed', async () => {
  await row.ensure();
  await row.remove();
  await row.ensure();
  expect(written).toHaveLength(2);
});

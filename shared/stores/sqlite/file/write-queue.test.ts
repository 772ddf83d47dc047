import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { Turns } from './turns.ts';
import type { Write } from './write-group.ts';
import { WriteQueue } from './write-queue.ts';

const MOST = 64;
const WRITE: Write = {
  carryOut: () => {},
  succeed: () => {},
  fail: () => {},
  makesRoom: false,
};

/** A queue whose transactions take that many milliseconds, at an event loop that handles what the test says. */
async function queued({ took }: { readonly took: number }) {
  const clock = new ManualClock();
  const turns = new Turns(join(await temporaryFolder(), 'some.db.waiting'), clock);
  const loop = { handled: 0 };
  /** How many writes each transaction had. */
  const groups: number[] = [];
  const commit = async (writes: readonly Write[]) => {
    groups.push(writes.length);
    clock.advance(took / 1000);
    return writes.map(() => () => {});
  };
  const queue = new WriteQueue(commit, clock, turns, () => loop.handled);
  const add = (count = 1) => {
    for (let n = 0; n < count; n += 1) queue.add(WRITE);
  };
  /** A turn of the event loop that takes that long, and handles an event. */
  const busy = async (milliseconds: number) => {
    loop.handled += 1;
    clock.advance(milliseconds / 1000);
    await turn();
  };
  // Before this write the duration of a transaction is unknown.
  add();
  await turn();
  expect(groups.splice(0)).toEqual([1]);
  return { queue, groups, add, busy, clock };
}

test('while the event loop is busy, writes are collected for as long as the last transaction took', async () => {
  const { groups, add, busy } = await queued({ took: 3 });
  for (const milliseconds of [0, 1, 1]) {
    add();
    await busy(milliseconds);
  }
  expect(groups).toEqual([]);
  await busy(1);
  expect(groups).toEqual([3]);
  add();
  await busy(2);
  expect(groups).toEqual([3]);
  await busy(2);
  expect(groups).toEqual([3, 1]);
});

test('once the event loop had an idle turn, writes are done at once', async () => {
  const { groups, add, busy } = await queued({ took: 3 });
  add();
  await busy(0);
  add();
  await busy(0);
  expect(groups).toEqual([]);
  await turn();
  expect(groups).toEqual([2]);
});

test('writes are collected for 10 ms at most, however long the last transaction took', async () => {
  const { groups, add, busy } = await queued({ took: 500 });
  add();
  await busy(9);
  expect(groups).toEqual([]);
  await busy(1);
  expect(groups).toEqual([1]);
});

test('writes that fill a transaction are not delayed', async () => {
  const { groups, add, busy } = await queued({ took: 3 });
  add(MOST - 1);
  await busy(0);
  expect(groups).toEqual([]);
  add();
  await busy(0);
  expect(groups).toEqual([MOST]);
});

test('if the file is closed while writes are collected, they are done, once each', async () => {
  const { queue, groups, add, busy } = await queued({ took: 3 });
  add(2);
  await busy(0);
  await queue.drain();
  expect(groups).toEqual([2]);
  await turn();
  await turn();
  expect(groups).toEqual([2]);
});
